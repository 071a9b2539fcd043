/** Feedback over HTTP: one verdict per person and message. */
import { describe, expect, test } from 'bun:test'
import { newId } from '#kernel/ids'
import { makeConversation } from '#test/support/agent/records'
import { newSurface } from '#test/support/agent/surface'
import { signedIn } from '#test/support/session'
import { useSharedApp } from '#test/support/use'

const app = useSharedApp({ overrides: { lanes: [] } })

const setUp = async () => {
  const surface = await newSurface(app)
  const { id, messageId } = await makeConversation(surface)
  const give = (body: object, key?: string) =>
    surface.send('POST', `conversations/${id}/feedback`, { messageId, verdict: 'up', ...body }, key)
  const own = async (key?: string) =>
    (await surface.send('GET', `conversations/${id}/feedback`, undefined, key)).body.feedback
  return { ...surface, id, messageId, give, own }
}

describe('feedback', () => {
  test('is given by a person, who is named, and shown to that person in the conversation', async () => {
    const { give, own, id, messageId, tenantId, send } = await setUp()
    const [person, other] = [
      await signedIn(app, tenantId, 'viewer'),
      await signedIn(app, tenantId, 'editor'),
    ]
    const { status, body } = await give(
      { verdict: 'down', correction: 'Three were late' },
      person.key,
    )
    expect(status).toBe(201)
    expect(body.feedback).toMatchObject({
      tenantId,
      conversationId: id,
      messageId,
      userId: person.personId,
      verdict: 'down',
    })
    expect(body.feedback).toMatchObject({
      correction: 'Three were late',
      messageExcerpt: 'Done.',
      metadata: { model: 'desk', tools: [], playbooks: null },
    })
    expect(await own(person.key)).toEqual([body.feedback])
    expect(await own(other.key)).toEqual([])
    expect((await send('GET', 'feedback')).body.feedback).toEqual([body.feedback])
  })

  test('by a key of the workspace is that of the key', async () => {
    const { give, key, tenantId } = await setUp()
    const [row] = await app.owner`select id from api_key where tenant_id = ${tenantId}
        and last4 = ${key.slice(-4)}`
    expect((await give({})).body.feedback.userId).toBe(row!.id)
  })

  test('a second verdict replaces the first', async () => {
    const { give, own } = await setUp()
    const first = (await give({ correction: 'No' })).body.feedback
    const { status, body } = await give({ verdict: 'down' })
    expect([status, body.feedback.id, body.feedback.verdict, body.feedback.correction]).toEqual([
      201,
      first.id,
      'down',
      null,
    ])
    expect(await own()).toEqual([body.feedback])
  })

  test('is refused for a message of a person, and for none', async () => {
    const { give, asked, send } = await setUp()
    const { conversation, message } = await asked()
    const onQuestion = await send('POST', `conversations/${conversation}/feedback`, {
      messageId: message,
      verdict: 'up',
    })
    expect([onQuestion.status, onQuestion.body.error.details[0].path]).toEqual([400, 'messageId'])
    // A message of another conversation, an unknown id, and what is no id at all.
    for (const messageId of [message, newId(), 'nothing'])
      expect((await give({ messageId })).status).toBe(404)
  })

  test('is filtered by verdict and by time', async () => {
    const { give, send } = await setUp()
    const { feedback } = (await give({})).body
    const list = async (query: string) => (await send('GET', `feedback?${query}`)).body.feedback
    expect(await list('verdict=up')).toEqual([feedback])
    expect(await list('verdict=down')).toEqual([])
    expect(await list(`since=${feedback.createdAt}`)).toEqual([feedback])
    expect(await list('since=2999-01-01T00:00:00Z')).toEqual([])
    expect((await send('GET', 'feedback?limit=201')).status).toBe(400)
  })
})
