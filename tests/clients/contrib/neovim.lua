-- Opens FILE in Neovim as it is set up, waits for the language server and prints what a user would see, as a line of JSON:
-- the filetype, whether a server is attached, diagnostics, what hovering at LINE:COLUMN tells, and where a definition is.
--
--   nvim --headless --clean --cmd 'set runtimepath^=contrib/editors/neovim' -c 'luafile neovim.lua' FILE
--
-- LINE and COLUMN, which count from 1, come from the variable POSITION; WAIT says for how many milliseconds what does not
-- come is waited for.
local buffer = vim.api.nvim_get_current_buf()
local seen = {}
vim.api.nvim_create_autocmd('DiagnosticChanged', {
  buffer = buffer,
  callback = function()
    seen.diagnostics = true
  end,
})
local function attached()
  return vim.lsp.get_clients({ bufnr = buffer })[1]
end
local report = { filetype = vim.bo[buffer].filetype, lines = vim.api.nvim_buf_line_count(buffer), modifiable = vim.bo[buffer].modifiable }
local wait = tonumber(vim.env.WAIT)
vim.wait(wait, function()
  local client = attached()
  return client ~= nil and client.initialized
end, 50)
report.server = attached() and attached().name or vim.NIL
if attached() then
  vim.wait(wait, function()
    return seen.diagnostics or #vim.diagnostic.get(buffer) > 0
  end, 50)
  report.diagnostics = vim.tbl_map(function(d)
    return { line = d.lnum + 1, column = d.col + 1, severity = vim.diagnostic.severity[d.severity], message = d.message }
  end, vim.diagnostic.get(buffer))
  local line, column = (vim.env.POSITION or '1:1'):match('(%d+):(%d+)')
  local params = {
    textDocument = { uri = vim.uri_from_bufnr(buffer) },
    position = { line = tonumber(line) - 1, character = tonumber(column) - 1 },
  }
  local function ask(method)
    local answers = vim.lsp.buf_request_sync(buffer, method, params, wait) or {}
    for _, answer in pairs(answers) do
      return answer.result
    end
  end
  local hover = ask('textDocument/hover')
  report.hover = hover and hover.contents and hover.contents.value or vim.NIL
  local definition = ask('textDocument/definition')
  report.definition = definition and definition[1] and definition[1].range.start.line + 1 or vim.NIL
end
io.stdout:write(vim.json.encode(report) .. '\n')
vim.cmd('qa!')
