-- Tile IR in Neovim 0.10 and newer: the filetype, the language server, and a view of bytecode.
vim.filetype.add({ extension = { mlir = 'mlir' } })

if vim.lsp.enable then
  vim.lsp.enable('tileiras')
else
  local file = vim.api.nvim_get_runtime_file('lsp/tileiras.lua', false)[1]
  local config = dofile(file)
  vim.api.nvim_create_autocmd('FileType', {
    pattern = config.filetypes,
    callback = function(event)
      vim.lsp.start({
        name = 'tileiras',
        cmd = config.cmd,
        root_dir = vim.fs.root(event.buf, config.root_markers),
      })
    end,
  })
end

-- Bytecode is shown as text, which cannot be written back.
vim.api.nvim_create_autocmd('BufReadCmd', {
  pattern = '*.tileirbc',
  callback = function(event)
    local name = vim.api.nvim_buf_get_name(event.buf)
    local ok, run = pcall(vim.system, { 'tileiras', name, '--emit=cuda-tile', '-o', '-' }, { text = true })
    local result = ok and run:wait() or { code = 1, stderr = run }
    local text = result.code == 0 and result.stdout or result.stderr
    vim.api.nvim_buf_set_lines(event.buf, 0, -1, false, vim.split(vim.trim(text), '\n'))
    vim.bo[event.buf].buftype = 'nowrite'
    vim.bo[event.buf].modified = false
    vim.bo[event.buf].modifiable = false
    if result.code == 0 then
      vim.bo[event.buf].filetype = 'mlir'
    else
      vim.notify('tileiras: ' .. vim.trim(text), vim.log.levels.ERROR)
    end
  end,
})
