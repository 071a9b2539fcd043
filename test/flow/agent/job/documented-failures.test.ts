/**
 * The 500s of the API document have its words, whatever fails underneath, and leave nothing behind.
 */
import { describe, expect, test } from 'bun:test'
import { operations } from '#contract/index'
import { makeConversation } from '#test/support/agent/records'
import { newSurface } from '#test/support/agent/surface'
import { connectMcp } from '#test/support/mcp/mcp'
import { useSharedApp } from '#test/support/use'

const app = useSharedApp({ overrides: { lanes: [] } })

/** While no row can be written to a table. */
const unwritable = async <R>(table: string, during: () => Promise<R>): Promise<R> => {
  await app.owner.unsafe(`alter table ${table} add constraint away check (false) not valid`)
  return await during().finally(() => app.owner.unsafe(`alter table ${table} drop constraint away`))
}

/** While a table cannot be read. */
const unreadable = async <R>(table: string, during: () => Promise<R>): Promise<R> => {
  await app.owner.unsafe(`alter table ${table} rename to ${table}_away`)
  return await during().finally(() =>
    app.owner.unsafe(`alter table ${table}_away rename to ${table}`),
  )
}

const failure = (message: string) => ({
  error: { code: 'internal', message, request_id: expect.any(String) },
})
const TASK = {
  taskType: 'extract_action_items',
  input: { text: 'Anna sends the offer by Friday.' },
}

/** Every row of the document that has a 500, with what it says. */
const documented = {
  'agent.conversationFeedback.give': 'insert failed',
  'agent.jobs.trace': 'trace query failed',
  'agent.tasks.create': 'enqueue failed',
  'agent.documents.add': 'enqueue failed',
}

test('the rows of the document with a 500 have its words', () => {
  const worded = operations.flatMap(({ id, failure }) =>
    failure === undefined ? [] : [[id, failure]],
  )
  expect(Object.fromEntries(worded)).toEqual(documented)
})

describe('a failure underneath is told in the words of the document', () => {
  const posts = (path: string, body: object, key: string, tenantKey: string) =>
    app.send('POST', path, { key: tenantKey, body, headers: { 'idempotency-key': key } })

  test.each([
    ['/api/v1/agent/tasks', 'agent_job', TASK],
    ['/api/v1/agent/tasks', 'work', TASK],
    ['/api/v1/documents', 'document', { fileName: 'a.md', content: 'Within 30 days.' }],
    ['/api/v1/documents', 'work', { fileName: 'b.md', content: 'Within 40 days.' }],
  ])('enqueue failed: POST %s, while no row of %s can be written', async (path, table, body) => {
    const { key } = await newSurface(app)
    const again = `again-${table}`
    const refused = await unwritable(table, () => posts(path, body, again, key))
    expect([refused.status, refused.body]).toEqual([500, failure('enqueue failed')])
    expect(refused.text).not.toContain('away')
    // Nothing is left, and the same key runs anew.
    const list = await app.send('GET', path, { key })
    expect(Object.values(list.body)[0]).toEqual([])
    expect((await posts(path, body, again, key)).status).toBe(201)
  })

  test('insert failed', async () => {
    const surface = await newSurface(app)
    const { id, messageId } = await makeConversation(surface)
    const give = () =>
      surface.send('POST', `conversations/${id}/feedback`, { messageId, verdict: 'up' })
    const refused = await unwritable('agent_feedback', give)
    expect([refused.status, refused.body]).toEqual([500, failure('insert failed')])
    expect((await surface.send('GET', 'feedback')).body.feedback).toEqual([])
    expect((await give()).status).toBe(201)
  })

  test('trace query failed', async () => {
    const surface = await newSurface(app)
    const { job } = await surface.asked()
    const trace = () => surface.send('GET', `jobs/${job}/trace`)
    const refused = await unreadable('agent_step', trace)
    expect([refused.status, refused.body]).toEqual([500, failure('trace query failed')])
    expect((await trace()).status).toBe(200)
  })

  test('over MCP, too', async () => {
    const { key } = await newSurface(app)
    await using mcp = await connectMcp(app.url, { key, query: '?toolsets=agent' })
    const refused = await unwritable('agent_job', () => mcp.call('agent_run_task', TASK))
    expect([refused.isError, JSON.stringify(refused.content)]).toEqual([
      true,
      expect.stringContaining('enqueue failed'),
    ])
  })

  test('where the document has no words, the text of the failure stays withheld', async () => {
    const { key } = await newSurface(app)
    const refused = await unwritable('agent_conversation', () =>
      app.send('POST', '/api/v1/agent/conversations', { key, body: {} }),
    )
    expect([refused.status, refused.body]).toEqual([500, failure('internal error')])
  })

  test('what a caller did wrong is told as before', async () => {
    const { key } = await newSurface(app)
    const { status, body } = await app.send('POST', '/api/v1/agent/tasks', {
      key,
      body: { ...TASK, taskType: 'sing' },
    })
    expect([status, body.error.code]).toEqual([400, 'invalid_input'])
  })
})
