/**
 * Conversations over HTTP: begun, renamed, archived, paged; and what a message starts. No job runs
 * here.
 */
import { describe, expect, test } from 'bun:test'
import { openJobLimits } from '#domain/agent/job/limits'
import { newSurface, type Surface } from '#test/support/agent/surface'
import { useSharedApp } from '#test/support/use'

const app = useSharedApp({ overrides: { lanes: [] } })

const dueIn = async (job: string): Promise<number> => {
  const [row] =
    await app.owner`select extract(epoch from w.run_at - j.created_at)::float8 as seconds
      from work w
    join agent_job j on j.id = w.ref_id where w.kind = 'agent' and w.ref_id = ${job}`
  return row!.seconds
}

const say = ({ send }: Surface, id: string, body: object = {}) =>
  send('POST', `conversations/${id}/messages`, { content: 'What is late?', ...body })

describe('a conversation', () => {
  test('is named after the first words of its first message', async () => {
    const surface = await newSurface(app)
    const { conversation } = await surface.asked(`  What\n is  late? ${'x'.repeat(100)}`)
    const { body } = await surface.send('GET', `conversations/${conversation}`)
    expect(body.conversation.title).toBe(`What is late? ${'x'.repeat(46)}`)
    await say(surface, conversation, { content: 'And what is early?' })
    expect(
      (await surface.send('GET', `conversations/${conversation}`)).body.conversation.title,
    ).toBe(body.conversation.title)
  })

  test('keeps the title that it was given, without outer spaces', async () => {
    const { send } = await newSurface(app)
    const { body } = await send('POST', 'conversations', { title: ' Launch ' })
    expect(body.conversation).toMatchObject({ title: 'Launch', status: 'active', origin: 'app' })
    await send('POST', `conversations/${body.conversation.id}/messages`, {
      content: 'What is late?',
    })
    expect(
      (await send('GET', `conversations/${body.conversation.id}`)).body.conversation.title,
    ).toBe('Launch')
  })

  test('moves to the front of the list with each message, and pages miss none', async () => {
    const surface = await newSurface(app)
    const ids: string[] = []
    for (let count = 0; count < 3; count++)
      ids.push((await surface.send('POST', 'conversations', {})).body.conversation.id)
    // Minutes apart, since the clock of the machine may step back between two letters.
    for (const [nth, id] of ids.entries())
      await app.owner`update agent_conversation set last_at = now() - ${3 - nth} * interval
        '1 minute' where id = ${id}`
    await say(surface, ids[0]!)
    const first = (await surface.send('GET', 'conversations?limit=2')).body
    const second = (await surface.send('GET', `conversations?limit=2&cursor=${first.nextCursor}`))
      .body
    expect(
      [...first.conversations, ...second.conversations].map(({ id }: { id: string }) => id),
    ).toEqual([ids[0]!, ids[2]!, ids[1]!])
    expect(second.nextCursor).toBeNull()
  })

  test('can be renamed and archived; then it takes no message until it is active again', async () => {
    const surface = await newSurface(app)
    const { conversation: id } = await surface.asked()
    const change = (body: object) => surface.send('PATCH', `conversations/${id}`, body)
    expect(
      (await change({ title: 'Renamed', status: 'archived' })).body.conversation,
    ).toMatchObject({
      title: 'Renamed',
      status: 'archived',
    })
    const refused = await say(surface, id)
    expect([refused.status, refused.body.error.message]).toEqual([
      409,
      'cannot send: the conversation is archived; make it active first',
    ])
    expect(
      (await surface.send('GET', 'conversations?status=archived')).body.conversations,
    ).toHaveLength(1)
    expect((await change({ status: 'active' })).body.conversation.title).toBe('Renamed')
    expect((await say(surface, id)).status).toBe(201)
  })

  test('shows its 50 newest messages in order, and all of them page by page', async () => {
    const surface = await newSurface(app)
    const { conversation: id } = await surface.asked('1')
    await app.owner`insert into agent_message (id, tenant_id, conversation_id, seq, role, content,
      author, created_at, updated_at)
      select gen_random_uuid(), ${surface.tenantId}, ${id}, n, 'user', n::text, '{}', now(), now()
        from generate_series(2, 60) n`
    const seqs = (all: { seq: number }[]) => all.map(({ seq }) => seq)
    const { messages, openJobs } = (await surface.send('GET', `conversations/${id}`)).body
    expect(seqs(messages)).toEqual(Array.from({ length: 50 }, (_, index) => 11 + index))
    expect(openJobs).toHaveLength(1)
    const first = (await surface.send('GET', `conversations/${id}/messages?limit=50`)).body
    const second = (
      await surface.send('GET', `conversations/${id}/messages?limit=50&cursor=${first.nextCursor}`)
    ).body
    expect(seqs([...first.messages, ...second.messages])).toEqual(
      Array.from({ length: 60 }, (_, index) => 60 - index),
    )
    expect(second.nextCursor).toBeNull()
  })
})

describe('a message', () => {
  test('starts one job that is due at once, with its first event', async () => {
    const surface = await newSurface(app)
    const { conversation, job, message } = await surface.asked()
    const { body } = await surface.send('GET', `jobs/${job}`)
    expect(body.job).toMatchObject({
      status: 'queued',
      kind: 'turn',
      conversationId: conversation,
      messageId: message,
      model: 'desk',
      taint: [],
    })
    expect(await dueIn(job)).toBe(0)
    const { events, nextSeq, done } = (await surface.send('GET', `jobs/${job}/events`)).body
    expect(events).toEqual([
      {
        seq: 1,
        at: expect.any(String),
        type: 'job.status',
        data: { status: 'queued', error: null },
      },
    ])
    expect([nextSeq, done]).toEqual([1, false])
  })

  test('waits behind a queued or running job of its conversation, but not behind one that waits for a person', async () => {
    const surface = await newSurface(app)
    const { conversation, job } = await surface.asked()
    const after = async () => dueIn((await say(surface, conversation)).body.job.id)
    expect(await after()).toBe(60)
    await app.owner`update agent_job set status = 'waiting_approval'
      where tenant_id = ${surface.tenantId}`
    expect(await after()).toBe(0)
    await app.owner`update agent_job set status = 'running' where id = ${job}`
    expect(await after()).toBe(60)
    expect(await dueIn((await surface.asked()).job)).toBe(0)
  })

  test(`is refused while ${openJobLimits.ofConversation} jobs of its conversation are open`, async () => {
    const surface = await newSurface(app)
    const { conversation } = await surface.asked()
    for (let count = 1; count < openJobLimits.ofConversation; count++)
      expect((await say(surface, conversation)).status).toBe(201)
    const refused = await say(surface, conversation)
    expect([refused.status, refused.body.error.message]).toEqual([429, 'rate_limited:agent_jobs'])
    expect((await surface.asked()).job).toBeString()
  })

  test('names the tools that its job may use; an unknown one is refused by name', async () => {
    const surface = await newSurface(app)
    const { conversation } = await surface.asked()
    const refused = await say(surface, conversation, {
      toolNames: ['growth_overview', 'growth_create_bach'],
    })
    expect([refused.status, refused.body.error.details]).toEqual([
      400,
      [
        {
          path: 'toolNames.1',
          message: 'is not a tool: growth_create_bach; did you mean growth_create_batch?',
        },
      ],
    ])
    const { body } = await say(surface, conversation, {
      toolNames: ['growth_overview', 'growth_overview'],
    })
    expect(body.job.toolNames).toEqual(['growth_overview'])
  })

  test('starts an untrusted job if the conversation has an untrusted message', async () => {
    const surface = await newSurface(app)
    const { conversation } = await surface.asked()
    await app.owner`update agent_message set untrusted = true
      where conversation_id = ${conversation}`
    expect((await say(surface, conversation)).body.job.taint).toEqual(['conversation'])
  })
})
