package highlight

import "strings"

// find builds the language of a name, an alias or a file extension; nil if there is none.
func find(name string) *language {
	if l := compiled(name); l != nil {
		return l
	}
	if l := scripting(name); l != nil {
		return l
	}
	return data(name)
}

func compiled(name string) *language {
	switch name {
	case "go", "golang":
		return cLike("break case chan const continue default defer else fallthrough for func go goto if import interface map package range return select struct switch type var",
			"any bool byte comparable complex64 complex128 error float32 float64 int int8 int16 int32 int64 rune string uint uint8 uint16 uint32 uint64 uintptr",
			"true false nil iota", dquote, rawTick, charLit)
	case "rust", "rs":
		l := cLike("as async await break const continue crate dyn else enum extern fn for if impl in let loop match mod move mut pub ref return self Self static struct super trait type union unsafe use where while",
			"bool char f32 f64 i8 i16 i32 i64 i128 isize str u8 u16 u32 u64 u128 usize String Vec Option Result Box", "true false None Some Ok Err",
			delim{open: `r#"`, close: `"#`, kind: String, multi: true}, multiD, charLit)
		l.delims[0] = cNested
		return l
	case "c", "h", "cpp", "c++", "cc", "cxx", "hpp", "hh", "objective-c", "objc", "m", "mm", "cuda", "cu", "arduino", "ino":
		l := cLike(`alignas alignof asm auto break case catch class concept const consteval constexpr continue co_await co_return co_yield decltype default delete do
			else enum explicit export extern final for friend goto if inline mutable namespace new noexcept operator override private protected public
			register requires restrict return sizeof static static_assert static_cast struct switch template this throw try typedef typename union using virtual volatile while`,
			"bool char char8_t char16_t char32_t double float int int8_t int16_t int32_t int64_t long short signed size_t ssize_t uint8_t uint16_t uint32_t uint64_t unsigned void wchar_t string",
			"true false NULL nullptr", dquote, charLit)
		l.whole = preprocessor
		return l
	case "csharp", "cs", "c#":
		return cLike(`abstract as async await base break case catch checked class const continue default delegate do else enum event explicit extern finally fixed for foreach get goto if
			implicit in init interface internal is lock namespace new operator out override params partial private protected public readonly record ref required return sealed set
			sizeof stackalloc static struct switch this throw try typeof unchecked unsafe using var virtual volatile when where while with yield`,
			"bool byte char decimal double dynamic float int long nint object sbyte short string uint ulong ushort void", "true false null",
			triple, delim{open: `@"`, close: `"`, kind: String, multi: true}, dquote, charLit)
	case "java":
		return cLike(`abstract assert break case catch class const continue default do else enum extends final finally for goto if implements import instanceof interface native new
			package permits private protected public record return sealed static strictfp super switch synchronized this throw throws transient try var volatile while yield`,
			"boolean byte char double float int long short void String Object Integer List Map", "true false null", triple, dquote, charLit)
	case "kotlin", "kt", "kts":
		return cLike(`abstract actual annotation as break by catch class companion const constructor continue crossinline data do else enum expect external final finally for fun get if import
			in infix init inline inner interface internal is lateinit noinline object open operator out override package private protected public reified return sealed set
			super suspend this throw try typealias val var vararg when where while`,
			"Any Boolean Byte Char Double Float Int List Long Map Nothing Set Short String Unit", "true false null", triple, dquote, charLit)
	case "swift":
		return cLike(`actor as associatedtype async await break case catch class continue default defer deinit do else enum extension fallthrough fileprivate for func guard if import in
			indirect init inout internal is lazy let mutating open operator override private protocol public repeat rethrows return self Self some static struct subscript
			super switch throw throws try typealias unowned var weak where while`,
			"Any Array Bool Character Dictionary Double Float Int Set String Void", "true false nil", triple, dquote)
	case "scala", "sc":
		return cLike(`abstract case catch class def do else enum export extends extension final finally for given if implicit import lazy match new object override package private
			protected return sealed super then this throw trait try type using val var while with yield`,
			"Any Boolean Byte Char Double Float Int List Long Map Nothing Option Seq Set Short String Unit", "true false null None Some", triple, dquote, charLit)
	case "dart":
		return cLike(`abstract as assert async await base break case catch class const continue covariant default deferred do else enum export extends extension external factory final
			finally for get hide if implements import in interface is late library mixin new on operator part required rethrow return sealed set show static super switch sync this
			throw try typedef var when while with yield`,
			"bool double dynamic Function Future int Iterable List Map Never num Object Set Stream String void", "true false null", triple, triple1, dquote, squote)
	case "zig":
		return cLike(`addrspace align allowzero and anyframe anytype asm async await break callconv catch comptime const continue defer else enum errdefer error export extern fn for if
			inline linksection noalias noinline nosuspend opaque or orelse packed pub resume return struct suspend switch test threadlocal try union unreachable usingnamespace var volatile while`,
			"anyerror bool f16 f32 f64 i8 i16 i32 i64 i128 isize noreturn type u8 u16 u32 u64 u128 usize void", "true false null undefined", dquote, charLit)
	case "haskell", "hs":
		l := &language{comments: []string{"--"}, extra: "'", delims: []delim{{open: "{-", close: "-}", kind: Comment, multi: true, nests: true}, dquote, charLit}}
		return l.with(Keyword, "case class data default deriving do else family forall foreign if import in infix infixl infixr instance let module newtype of qualified then type where").
			with(Type, "Bool Char Double Either Float IO Int Integer Maybe Ordering String").with(Builtin, "True False Nothing Just Left Right otherwise")
	case "protobuf", "proto":
		return cLike("enum extend extensions import message oneof option optional package public repeated required reserved returns rpc service stream syntax to weak",
			"bool bytes double fixed32 fixed64 float int32 int64 map sfixed32 sfixed64 sint32 sint64 string uint32 uint64", "true false", dquote, squote)
	}
	return nil
}

// preprocessor lines of C are keywords.
func preprocessor(line string) Kind {
	if t := strings.TrimLeft(line, " \t"); strings.HasPrefix(t, "#") && !strings.Contains(t, "/*") {
		return Keyword
	}
	return Plain
}

func scripting(name string) *language {
	switch name {
	case "javascript", "js", "jsx", "mjs", "cjs", "node", "typescript", "ts", "tsx", "mts", "cts", "vue", "svelte":
		l := cLike(`abstract as asserts async await break case catch class const continue debugger declare default delete do else enum export extends finally for from function get if
			implements import in infer instanceof interface is keyof let namespace new of override private protected public readonly return satisfies set static super switch this
			throw try type typeof var void while with yield`,
			"any bigint boolean never number object string symbol unknown Array Map Promise Record Set", "true false null undefined NaN Infinity", template, dquote, squote)
		l.extra = "$"
		return l
	case "python", "py", "python3", "py3", "pyi", "starlark", "bzl":
		return hash(`and as assert async await break case class continue def del elif else except finally for from global if import in is lambda match nonlocal not or pass raise
			return try type while with yield`,
			"bool bytes dict float frozenset int list object set str tuple", "True False None self cls", triple, triple1, dquote, squote)
	case "ruby", "rb":
		l := hash(`alias and begin break case class def defined? do else elsif end ensure extend for if in include module next not or private protected public raise redo require
			require_relative rescue retry return self super then undef unless until when while yield attr_accessor attr_reader attr_writer`, "", "true false nil", multiD, squote)
		l.extra, l.here = "@$?", true
		return l
	case "php":
		l := cLike(`abstract and array as break callable case catch class clone const continue declare default do echo else elseif empty enddeclare endfor endforeach endif endswitch
			endwhile enum extends final finally fn for foreach function global if implements include include_once instanceof insteadof interface isset list match namespace new
			or print private protected public readonly require require_once return static switch throw trait try unset use var while xor yield`,
			"bool float int iterable mixed never object string void", "true false null TRUE FALSE NULL", multiD, multiS)
		l.comments, l.extra, l.here = []string{"//", "#"}, "$", true
		return l
	case "perl", "pl", "pm":
		l := hash("and cmp die do else elsif eq for foreach ge gt if last le local lt my ne next no not or our package print redo require return say sub unless until use while xor",
			"", "undef", dquote, squote)
		l.extra, l.here = "$@%", true
		return l
	case "lua":
		l := &language{comments: []string{"--"}, delims: []delim{
			{open: "--[[", close: "]]", kind: Comment, multi: true}, {open: "[[", close: "]]", kind: String, multi: true}, dquote, squote,
		}}
		return l.with(Keyword, "and break do else elseif end for function goto if in local not or repeat return then until while").with(Builtin, "true false nil self")
	case "bash", "sh", "shell", "zsh", "fish", "ksh", "console", "shellscript", "shell-session", "bashrc", "zshrc":
		l := hash(`alias break case continue declare do done elif else esac eval exec exit export fi for function if in local readonly return select set shift source then time trap
			unset until while`, "", "true false", multiD, multiS)
		l.extra, l.here = "$-", true
		return l
	case "powershell", "ps1", "pwsh", "psm1":
		l := hash(`begin break catch class continue data do dynamicparam else elseif end enum exit filter finally for foreach function hidden if in param process return static switch
			throw trap try until using while`, "", "$true $false $null", delim{open: "<#", close: "#>", kind: Comment, multi: true}, delim{open: `"`, close: `"`, kind: String, escape: '`', multi: true}, multiS)
		l.extra, l.fold = "$-", true
		return l
	case "elixir", "ex", "exs":
		l := hash(`after alias and case catch cond def defdelegate defexception defguard defimpl defmacro defmodule defp defprotocol defstruct do else end fn for if import in not or
			quote raise receive require rescue reraise super throw try unless unquote use when with`, "", "true false nil", triple, dquote, squote)
		l.extra = "@?!"
		return l
	case "r", "rscript":
		l := hash("break else for function if in next repeat return while library require", "", "TRUE FALSE NULL NA NaN Inf", dquote, squote)
		l.extra = "."
		return l
	case "clojure", "clj", "cljs", "edn", "lisp", "scheme", "elisp", "el", "racket":
		l := &language{comments: []string{";"}, delims: []delim{multiD}, extra: "-?!*+<>=/:"}
		return l.with(Keyword, `def defn defn- defmacro defmulti defmethod defprotocol defrecord defun defvar define lambda fn let loop recur if when cond do ns require import
			begin set! setq progn case for doseq try catch throw`).with(Builtin, "true false nil t")
	case "sql", "postgres", "postgresql", "mysql", "sqlite", "psql", "plpgsql":
		l := &language{comments: []string{"--"}, delims: []delim{cBlock, {open: "'", close: "'", kind: String, multi: true}}, fold: true}
		return l.with(Keyword, `add all alter analyze and as asc begin between by cascade case check column commit conflict constraint create cross database default delete desc distinct do drop
			else end except exists explain foreign from full function grant group having if ilike in index inner insert intersect into is join key language left like limit
			materialized not nothing of offset on or order outer over partition primary recursive references replace returning returns revoke right rollback row rows schema select
			sequence set table temporary then to transaction trigger truncate union unique update using values vacuum view when where window with`).
			with(Type, "bigint bigserial boolean bytea char date decimal double float int integer interval json jsonb numeric real serial smallint text time timestamp timestamptz uuid varchar").
			with(Builtin, "null true false")
	}
	return nil
}

func data(name string) *language {
	switch name {
	case "html", "htm", "xml", "svg", "xhtml", "xsl", "plist", "csproj":
		return &language{markup: true, delims: []delim{xmlNote, {open: "<![CDATA[", close: "]]>", kind: String, multi: true, tag: true}}}
	case "css", "scss", "sass", "less":
		l := &language{comments: []string{}, delims: []delim{cBlock, dquote, squote}, extra: "-@$", keys: ':', css: true}
		if name != "css" {
			l.comments = []string{"//"}
		}
		return l.with(Keyword, "@import @media @supports @keyframes @font-face @layer @container @use @include @mixin @extend @if @else @for @each @function @return")
	case "json", "jsonc", "json5", "jsonl", "ndjson", "webmanifest":
		l := &language{comments: []string{"//"}, delims: []delim{cBlock, dquote, squote}, stringKeys: true}
		return l.with(Builtin, "true false null")
	case "yaml", "yml":
		l := hash("", "", "true false null yes no on off", dquote, delim{open: "'", close: "'", kind: String})
		l.keys, l.extra, l.stringKeys = ':', "-./", true
		return l
	case "toml", "ini", "cfg", "conf", "properties", "env", "dotenv", "editorconfig", "gitconfig":
		l := hash("", "", "true false", triple, triple1, dquote, delim{open: "'", close: "'", kind: String})
		l.keys, l.extra = '=', "-."
		if name == "ini" {
			l.comments = append(l.comments, ";")
		}
		l.whole = func(line string) Kind {
			if t := strings.TrimSpace(line); strings.HasPrefix(t, "[") && strings.HasSuffix(t, "]") {
				return Keyword
			}
			return Plain
		}
		return l
	case "dockerfile", "docker", "containerfile":
		l := hash("add arg cmd copy entrypoint env expose from as healthcheck label maintainer onbuild run shell stopsignal user volume workdir", "", "", dquote, squote)
		l.fold, l.here, l.extra = true, true, "-"
		return l
	case "makefile", "make", "mk", "justfile", "cmake":
		l := hash("ifeq ifneq ifdef ifndef else endif include define endef export override if elseif endif foreach function set add_executable add_library target_link_libraries", "", "", dquote, squote)
		l.keys, l.extra = ':', "-./$"
		return l
	case "nix":
		l := hash("assert else if in inherit let or rec then with import", "", "true false null", cBlock, delim{open: "''", close: "''", kind: String, multi: true}, multiD)
		l.extra = "-"
		return l
	case "hcl", "terraform", "tf", "tfvars":
		l := hash("data locals module moved output provider resource terraform variable for in if dynamic", "any bool list map number object set string tuple", "true false null", cBlock, dquote)
		l.comments, l.here = []string{"#", "//"}, true
		return l
	case "graphql", "gql":
		return hash("directive enum extend fragment implements input interface mutation on query scalar schema subscription type union", "Boolean Float ID Int String", "true false null", triple, dquote)
	case "diff", "patch":
		return &language{whole: diffLine}
	case "markdown", "md", "mdx":
		return &language{whole: markdownLine, delims: []delim{{open: "`", close: "`", kind: String}}}
	}
	return nil
}

func diffLine(line string) Kind {
	switch {
	case strings.HasPrefix(line, "+++"), strings.HasPrefix(line, "---"), strings.HasPrefix(line, "diff "), strings.HasPrefix(line, "index "):
		return Keyword
	case strings.HasPrefix(line, "@@"):
		return Function
	case strings.HasPrefix(line, "+"):
		return Inserted
	case strings.HasPrefix(line, "-"):
		return Deleted
	}
	return Plain
}

func markdownLine(line string) Kind {
	t := strings.TrimLeft(line, " ")
	switch {
	case strings.HasPrefix(t, "#"):
		return Keyword
	case strings.HasPrefix(t, ">"):
		return Comment
	}
	return Plain
}
