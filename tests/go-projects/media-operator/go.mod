module example.com/media-operator

go 1.25.0
