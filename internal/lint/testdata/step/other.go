package step

func outside() {}
