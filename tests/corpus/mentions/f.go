package main

// @no MAX_DEPTH
const MAX_DEPTH = 8

var g_level = 0

type Conf struct {
	limit   int
	on_done func(int)
}

func work(c *Conf, limit int) int {
	c.limit = limit     // @assigns
	g_level = MAX_DEPTH // @assigns
	g_level++           // @assigns
	raw := `@no g_level \`
	other := `
@no limit '
` + string(MAX_DEPTH)
	r := '"'
	switch limit {
	case MAX_DEPTH: // @compares
		return g_level // @returns
	}
	if c.on_done != nil { // @compares
		c.on_done(g_level)
	}
	d := Conf{limit: MAX_DEPTH, on_done: nil}
	return d.limit + len(raw) + len(other) + int(r)
}

/* @no g_level
@no */
