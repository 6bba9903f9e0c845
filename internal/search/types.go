package search

// typeTable: names of a type, a colon, its patterns.
const typeTable = `
asm: *.asm *.s *.S
awk: *.awk
bat batch: *.bat *.cmd
bazel: *.bazel *.bzl BUILD BUILD.bazel WORKSPACE MODULE.bazel
c: *.[chH] *.[chH].in *.cats
clojure: *.clj *.cljc *.cljs *.cljx
cmake: *.cmake CMakeLists.txt
config: *.cfg *.conf *.config *.ini
cpp: *.[ChH] *.cc *.[ch]pp *.[ch]xx *.hh *.inl *.[ChH].in *.cc.in *.[ch]pp.in *.[ch]xx.in *.hh.in
crystal: *.cr Projectfile
cs csharp: *.cs
css: *.css *.scss
csv: *.csv
cuda: *.cu *.cuh
cython: *.pyx *.pxi *.pxd
d: *.d
dart: *.dart
diff: *.diff *.patch
docker: *Dockerfile* *.dockerfile
elixir: *.ex *.exs *.eex *.heex *.leex
elm: *.elm
erlang: *.erl *.hrl
fish: *.fish
fortran: *.f *.F *.f77 *.F77 *.pfo *.f90 *.F90 *.f95 *.F95
fsharp: *.fs *.fsi *.fsx
go: *.go
gradle: *.gradle *.gradle.kts gradle.properties
graphql: *.graphql *.graphqls
groovy: *.groovy *.gradle
h: *.h *.hh *.hpp
haskell: *.hs *.lhs *.cpphs *.c2hs *.hsc
html: *.htm *.html *.ejs
java: *.java *.jsp *.jspx *.properties
jinja: *.j2 *.jinja *.jinja2
js: *.js *.jsx *.vue *.cjs *.mjs
json: *.json composer.lock *.sarif
jsonl: *.jsonl
julia: *.jl
jupyter: *.ipynb *.jpynb
kotlin: *.kt *.kts
less: *.less
license: COPYING COPYING[.-]* COPYRIGHT COPYRIGHT[.-]* LICENSE LICENSE[.-]* LICENCE LICENCE[.-]* NOTICE NOTICE[.-]*
lisp: *.el *.jl *.lisp *.lsp *.sc *.scm
lock: *.lock package-lock.json
log: *.log
lua: *.lua
make: *.mk *.mak [Gg][Nn][Uu]makefile [Gg][Nn][Uu]makefile.am [Mm]akefile [Mm]akefile.am [Mm]akefile.in Makefile.*
markdown md: *.markdown *.md *.mdown *.mdwn *.mkd *.mkdn *.mdx
matlab: *.m
nim: *.nim *.nimf *.nimble *.nims
nix: *.nix
objc: *.h *.m
objcpp: *.h *.mm
ocaml: *.ml *.mli *.mll *.mly
org: *.org *.org_archive
pascal: *.pas *.dpr *.lpr *.pp *.inc
perl: *.perl *.pl *.PL *.plh *.plx *.pm *.t
php: *.php *.php3 *.php4 *.php5 *.php7 *.php8 *.pht *.phtml
pod: *.pod
protobuf: *.proto
ps: *.cdxml *.ps1 *.ps1xml *.psd1 *.psm1
py python: *.py *.pyi
r: *.R *.r *.Rmd *.Rnw
rst: *.rst
ruby: *.rb *.rbw *.gemspec .irbrc Gemfile Rakefile config.ru
rust: *.rs
sass: *.sass *.scss
scala: *.scala *.sbt
sh: *.sh *.bash *.bashrc *.csh *.cshrc *.ksh *.kshrc *.tcsh *.zsh .bash_login .bash_logout .bash_profile .bashrc .profile .zshrc .zshenv .zlogin .zlogout .zprofile bash_profile zshrc
sml: *.sml *.sig
solidity: *.sol
sql: *.sql *.psql
stylus: *.styl
svelte: *.svelte
svg: *.svg
swift: *.swift
systemd: *.automount *.conf *.device *.link *.mount *.path *.scope *.service *.slice *.socket *.swap *.target *.timer
tcl: *.tcl
tex: *.tex *.ltx *.cls *.sty *.bib *.dtx *.ins
textile: *.textile
tf: *.tf *.auto.tfvars terraform.tfvars *.tf.json *.tfrc
toml: *.toml Cargo.lock
ts typescript: *.ts *.tsx *.cts *.mts
twig: *.twig
txt: *.txt
vala: *.vala
vb: *.vb
verilog: *.v *.vh *.sv *.svh
vhdl: *.vhd *.vhdl
vim: *.vim .vimrc .gvimrc vimrc gvimrc _vimrc _gvimrc
vue: *.vue
xml: *.xml *.dtd *.rng *.sch *.xhtml *.xjb *.xml.dist *.xsd *.xsl
yaml: *.yaml *.yml
zig: *.zig
zsh: *.zsh .zshenv .zlogin .zlogout .zprofile .zshrc zshenv zlogin zlogout zprofile zshrc
`
