package lint

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"
	"testing"
)

// docRule reports exported names without a comment, and packages without one. For constants and variables the comment
// of their group, of the line before or at the end of the line will do.
func docRule(c *code) (found []finding) {
	said := false
	for _, f := range c.Syntax {
		said = said || text(f.Doc)
	}
	if !said && len(c.Syntax) > 0 {
		found = append(found, c.at(c.Syntax[0].Name, "no package comment"))
	}
	for _, f := range c.Syntax {
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if name, seen := funcName(c, d); seen && !text(d.Doc) {
					found = append(found, c.at(d.Name, "exported %s has no comment", name))
				}
			case *ast.GenDecl:
				found = append(found, docOfGroup(c, d)...)
			}
		}
	}
	return found
}

func docOfGroup(c *code, d *ast.GenDecl) (found []finding) {
	if d.Tok == token.IMPORT {
		return nil
	}
	for _, s := range d.Specs {
		switch s := s.(type) {
		case *ast.TypeSpec:
			if s.Name.IsExported() && !text(s.Doc) && !(text(d.Doc) && len(d.Specs) == 1) {
				found = append(found, c.at(s, "exported %s has no comment", s.Name.Name))
			}
		case *ast.ValueSpec:
			for _, name := range s.Names {
				if name.IsExported() && !text(d.Doc) && !text(s.Doc) && !text(s.Comment) {
					found = append(found, c.at(name, "exported %s has no comment", name.Name))
				}
			}
		}
	}
	return found
}

// text says whether a comment says something; the marks of fixtures do not.
func text(g *ast.CommentGroup) bool {
	s := strings.TrimSpace(g.Text())
	return s != "" && !strings.HasPrefix(s, "want:")
}

// funcName says whether others can see the function, and what it is called.
func funcName(c *code, d *ast.FuncDecl) (string, bool) {
	if d.Recv == nil {
		return d.Name.Name, d.Name.IsExported()
	}
	t := c.TypesInfo.TypeOf(d.Recv.List[0].Type)
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	named, ok := t.(*types.Named)
	if !ok {
		return d.Name.Name, false
	}
	obj := named.Obj()
	return obj.Name() + "." + d.Name.Name, obj.Exported() && d.Name.IsExported()
}

func TestDoc(t *testing.T) { report(t, docRule) }

func TestDocFixture(t *testing.T) {
	wanted(t, "testdata/doc", docRule(fixture(t, "doc", "internal/evolve")))
}
