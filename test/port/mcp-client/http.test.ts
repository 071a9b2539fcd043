/** Servers over HTTP. */

import { createLog } from '#kernel/log'
import { createMcpClient } from '#port/mcp-client/open'
import { mcpCases } from '#test/cases/mcp-server'
import { egressTo } from '#test/support/http/egress'
import { never } from '#test/support/mcp/desk'
import { openHttpMcp } from '#test/support/mcp/fake-mcp'
import { use } from '#test/support/use'

const fake = use(openHttpMcp)

mcpCases('HTTP', {
  fake,
  open: ({ deadlineMs = 20_000, signal = never() } = {}) =>
    createMcpClient({
      egress: egressTo(`http://127.0.0.1:${fake.port}`),
      programs: [],
      home: '/nowhere',
      log: createLog('silent'),
      version: '0',
      deadlineMs,
    }).open(
      { transport: 'streamable_http', url: `http://127.0.0.1:${fake.port}/mcp`, headers: {} },
      { signal, tenantId: 'w' },
    ),
})
