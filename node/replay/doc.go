// Package replay has the verbs that read seed logs and models: replay, log, eval and export. [Source] is how
// other verbs get the policy of a file.
package replay
