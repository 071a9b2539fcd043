/** Servers over HTTP. */

import { createLog } from '#kernel/log'
import { createEgress } from '#port/egress/egress'
import { createMcpClient } from '#port/mcp-client/open'
import { mcpCases } from '#test/cases/mcp-server'
import { never } from '#test/support/mcp/desk'
import { openHttpMcp } from '#test/support/mcp/fake-mcp'
import { use } from '#test/support/use'

const fake = use(openHttpMcp)

mcpCases('HTTP', {
  fake,
  open: ({ deadlineMs = 20_000, signal = never() } = {}) =>
    createMcpClient({
      egress: createEgress({ rules: { allow: new Set([`127.0.0.1:${fake.port}`]), own: new Set() } }),
      ...{ programs: [], home: '/nowhere', log: createLog('silent'), version: '0', deadlineMs },
    }).open({ transport: 'streamable_http', url: `http://127.0.0.1:${fake.port}/mcp`, headers: {} }, { signal, tenantId: 'w' }),
})
