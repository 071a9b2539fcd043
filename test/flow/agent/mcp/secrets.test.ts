/**
 * Values of headers and variables stand nowhere in the clear, though the server repeats them in all
 * that it says.
 */
import { expect, test } from 'bun:test'
import { createLog } from '#kernel/log'
import { overJob, turn } from '#test/support/agent/agent'
import { plannedModel, planText } from '#test/support/agent/plan'
import { fakeMcp, SEARCH } from '#test/support/mcp/client'
import { serverAdmin } from '#test/support/mcp/servers'
import { secretsIn, secretsInTables } from '#test/support/texts/secrets'
import { useApp } from '#test/support/use'

const KEY = 'sk-mcp-canary-0123456789abcdef'
const secrets = { 'the key of the server': KEY, 'its second key': 'canary of another "header"' }
const [, SECOND] = Object.values(secrets)

const lines: string[] = []
const model = plannedModel()
const mcp = fakeMcp()
const log = createLog('trace', { write: (line) => void lines.push(line) })
const app = useApp(() => ({ overrides: { mcpClient: mcp, thinker: model }, log }))

test('no value of a header stands in a row, a prompt, an answer, an export or the log', async () => {
  const { tenantId } = await app.newWorkspace()
  const { send, get, ruled, refresh } = await serverAdmin(app, tenantId)
  const words = `You sent Bearer ${KEY} and ${SECOND}.`
  mcp.tools = [
    {
      ...SEARCH,
      description: words,
      inputSchema: {
        type: 'object',
        properties: { query: { type: 'string', description: words, enum: [KEY] } },
      },
    },
  ]
  mcp.answer = async () => ({
    text: `${words} ${JSON.stringify({ words })} ${encodeURIComponent(SECOND!)}`,
    isError: true,
  })
  const headers = { Authorization: `Bearer ${KEY}`, 'X-Second': SECOND! }
  const id = await ruled(['shop__search'], { headers })
  const { id: key } = await app.newKey(['api:read', 'api:write', 'workspace:use'], tenantId)
  const content = planText([
    [['use_tools', { names: ['shop__search'] }]],
    [['shop__search', { query: 'a' }]],
  ])
  const job = await turn(app, { content, by: { kind: 'key', id: key, personId: null }, tenantId })
  expect((await overJob(app, job)).status).toBe('completed')
  await send('PATCH', `mcp/servers/${id}`, { name: 'Store', headers })
  await refresh(id)
  expect(
    mcp.opened.filter((config) => 'headers' in config && config.headers['X-Second'] === SECOND)
      .length,
  ).toBeGreaterThanOrEqual(3)

  const paths = [
    'mcp/servers',
    `agent/jobs/${job}`,
    `agent/jobs/${job}/events`,
    `agent/jobs/${job}/trace`,
    'app/audit',
    'agent/tools',
  ]
  const shown = [
    await get(id),
    ...(await Promise.all(paths.map(async (path) => (await send('GET', path)).body))),
  ]
  for (const one of shown) expect(secretsIn(JSON.stringify(one), secrets)).toEqual([])
  const exported = await app.send('GET', '/api/v1/app/workspace/export', {
    key: (await serverAdmin(app, tenantId)).key,
  })
  expect([
    exported.status,
    exported.text.includes('mcp_server'),
    secretsIn(exported.text, secrets),
  ]).toEqual([200, true, []])
  expect(JSON.stringify(model.turns)).toContain('[a secret of this server]')
  expect(secretsIn(JSON.stringify(model.turns), secrets)).toEqual([])
  expect(await secretsInTables(app.owner, secrets)).toEqual([])
  expect([lines.length > 0, secretsIn(lines.join(''), secrets)]).toEqual([true, []])
})
