" Syntax of Tile IR in MLIR text: distinguishes values, types, attributes and names.
if exists('b:current_syntax')
  finish
endif
syntax match Comment '//.*$'
syntax region String start='"' skip='\\"' end='"'
syntax match Identifier '%[A-Za-z0-9_$.#-]\+'
syntax match Function '@[A-Za-z0-9_$.-]\+'
syntax match PreProc '#[A-Za-z0-9_$.-]\+'
syntax match Type '![A-Za-z0-9_$.-]\+'
syntax match Type '\<\%([su]\?i\d\+\|bf16\|tf32\|f\d\+\%(E\d\+M\d\+[A-Z]*\)\?\|index\)\>'
syntax match Type '\<\%(tile\|ptr\|token\|tensor_view\|partition_view\|tensor\|vector\)\ze<'
syntax match Number '\<-\?\d\+\%(\.\d*\%([eE][-+]\?\d\+\)\?\)\?\>'
syntax match Statement '\%(^\|=\)\s*\zs[a-z_][A-Za-z0-9_.]*\ze\%(\s\|$\)'
let b:current_syntax = 'mlir'
