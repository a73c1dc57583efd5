// Package tensorboard writes event files that TensorBoard shows: records framed as TFRecords, each an Event
// of protobuf, encoded by hand because six fields are needed of a schema of hundreds.
//
// Sources: tensorflow/core/util/event.proto, tensorflow/core/framework/summary.proto and
// tensorflow/core/lib/io/record_writer.cc of TensorFlow.
package tensorboard
