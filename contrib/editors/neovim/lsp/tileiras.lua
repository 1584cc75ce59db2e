-- The language server of Tile IR, for vim.lsp.enable('tileiras') in Neovim 0.11. plugin/tileiras.lua starts it in 0.10.
return {
  cmd = { 'tileiras-lsp-server' },
  filetypes = { 'mlir' },
  root_markers = { '.git' },
}
