/** Servers that are programs. */
import { describe } from 'bun:test'
import { createLog } from '#kernel/log'
import { createEgress } from '#port/egress/egress'
import { createMcpClient } from '#port/mcp-client/open'
import { confinementRefusal } from '#port/mcp-client/stdio/confinement'
import { mcpCases } from '#test/cases/mcp-server'
import { never } from '#test/support/mcp/desk'
import { openLineMcp, relayTo } from '#test/support/mcp/fake-mcp'
import { use } from '#test/support/use'

const refusal = confinementRefusal('/nowhere', 'all')

describe.skipIf(refusal !== undefined)(`programs${refusal ? ` (${refusal})` : ''}`, () => {
  const fake = use(openLineMcp)

  mcpCases('stdio', {
    fake,
    open({ deadlineMs = 20_000, signal = never() } = {}) {
      const program = relayTo(fake.port)
      const client = createMcpClient({
        egress: createEgress({ rules: { allow: new Set(), own: new Set() } }),
        ...{ programs: [{ ...program, env: [] }], home: '/nowhere', log: createLog('silent'), version: '0', deadlineMs },
      })
      return client.open({ transport: 'stdio', ...program, env: {} }, { signal, tenantId: 'w' })
    },
  })
})
