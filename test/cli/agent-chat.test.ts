/** Talking to the agent, with a server that speaks as the agent's routes do. */
import { describe, expect, test } from 'bun:test'
import { newId } from '#kernel/ids'
import { agentChat } from '#test/support/cli/agent-chat'
import { FakeAgent, type FakeAgentOptions, type FakeJob } from '#test/support/cli/fake-agent'
import type { CliOptions } from '#test/support/cli/host'

const { chat, signIn, asPerson, echo, asked, sent } = agentChat()

describe('from a pipe', () => {
  test('each line is a message of one conversation, as it is', async () => {
    await using agent = new FakeAgent({ turn: echo })
    const { code, out, err } = await chat(
      agent,
      { input: 'hello\n\n/items list --status drafted\n' },
      '--title',
      'A title',
    )
    expect({ code, out, err }).toEqual({
      code: 0,
      out: 'You said hello\nYou said /items list --status drafted\n',
      err: '',
    })
    expect(agent.routes).toEqual([
      'POST conversations',
      'POST conversations/ID/messages',
      'GET jobs/ID/events',
      'POST conversations/ID/messages',
      'GET jobs/ID/events',
    ])
    expect(agent.asked[0]).toMatchObject({ body: { title: 'A title' }, token: 'Bearer ak_test' })
    expect(sent(agent)).toEqual(['hello', '/items list --status drafted'])
  })

  test('a conversation goes on, and /new begins another', async () => {
    await using agent = new FakeAgent({ turn: echo })
    const id = newId()
    expect((await chat(agent, { input: 'a\n/new\nb\n/quit\nc' }, '--conversation', id)).code).toBe(
      0,
    )
    expect(agent.asked[0]!.path).toBe(`conversations/${id}/messages`)
    expect(agent.routes.filter((route) => route === 'POST conversations')).toHaveLength(1)
    expect(sent(agent)).toEqual(['a', 'b'])
  })

  const ends: [string, string | null, number][] = [
    ['completed', null, 0],
    ['failed', 'model_required', 10],
    ['failed', 'budget_exhausted:agent_tokens_day', 4],
    ['failed', 'model_failed: the key is wrong', 9],
    ['failed', 'caller_gone', 3],
    ['cancelled', null, 130],
  ]
  test.each(ends)('a last turn that is %s (%s) ends with its code', async (status, error, code) => {
    await using agent = new FakeAgent({
      turn: (job) =>
        job.content === 'last' ? job.add('job.status', { status, error }) : echo(job),
    })
    const run = await chat(agent, { input: 'first\nlast' })
    expect(run.code).toBe(code)
    expect(run.err).toBe(status === 'failed' ? `tendril: the turn failed: ${error}\n` : '')
    expect((await chat(agent, { input: 'last\nfirst' })).code).toBe(0)
  })

  test('a call that a person must allow is shown with a link, and the turn is left waiting', async () => {
    await using agent = new FakeAgent({ turn: (job) => job.ask({ summary: 'Post item:1 now.' }) })
    const { code, out, err } = await chat(agent, { input: 'post it' })
    const [{ id: job, approvals } = { id: '', approvals: [] }] = agent.jobs
    expect([code, out]).toEqual([7, ''])
    expect(err).toBe(`Post item:1 now.
  why      publishes
  owners and approvers can decide: Ada
  a person decides at ${approvals[0]!.url}
  the turn waits; follow it with tendril agent jobs watch ${job}
`)
  })

  test('a message that is refused is reported, and the next one is sent', async () => {
    const archived = {
      error: { code: 'conflict', message: 'the conversation is archived', request_id: 'r' },
    }
    await using agent = new FakeAgent({
      turn: echo,
      instead: ({ body }) =>
        body.content === 'bad' ? Response.json(archived, { status: 409 }) : undefined,
    })
    const { code, out, err } = await chat(agent, { input: 'bad\ngood' })
    expect({ code, out, err }).toEqual({
      code: 0,
      out: 'You said good\n',
      err: 'tendril: conflict: the conversation is archived\n',
    })
    expect((await chat(agent, { input: 'good\nbad' })).code).toBe(7)
  })

  test('a wrong key ends it at once', async () => {
    const wrong = { error: { code: 'unauthenticated', message: 'wrong key', request_id: 'r' } }
    await using agent = new FakeAgent({
      turn: echo,
      instead: () => Response.json(wrong, { status: 401 }),
    })
    expect((await chat(agent, { input: 'a\nb' })).code).toBe(3)
    expect(agent.asked).toHaveLength(1)
  })
})

describe('the events of a job', () => {
  const steps = (job: FakeJob) => {
    for (let number = 1; number <= 7; number++)
      job.add('step.started', { number, kind: 'tool', name: 't', summary: `step ${number}` })
    job.answer('done')
  }
  const cases: [string, FakeAgentOptions['streams']][] = [
    ['a stream', undefined],
    ['streams that break off after each event', 1],
    ['streams that break off after three events', 3],
    ['streams that bring nothing', 0],
    ['answers in JSON', 'none'],
  ]
  test.each(cases)('are shown in order and once, from %s', async (_, streams) => {
    await using agent = new FakeAgent({ turn: steps, streams })
    const { code, out, err } = await chat(agent, { input: 'go' })
    expect({ code, out }).toEqual({ code: 0, out: 'done\n' })
    expect(err).toBe([1, 2, 3, 4, 5, 6, 7].map((number) => `· step ${number}\n`).join(''))
  })

  test('cannot move the cursor of a terminal', async () => {
    await using agent = new FakeAgent({
      turn: (job) =>
        job
          .live('delta', { step: 1, at: 0, text: '\u001b[2J' })
          .add('step.started', { kind: 'tool', summary: '\u001b[1A' })
          .answer('\u001b[3J'),
    })
    const { out, err } = await chat(agent, { typed: ['go'], columns: 80 })
    expect(out + err).not.toContain('\u001b')
  })
})

describe('on a terminal', () => {
  const typed = (...lines: NonNullable<CliOptions['typed']>): CliOptions => ({
    typed: lines,
    columns: 80,
  })

  test('text is written as it arrives, and the message is not written again', async () => {
    await using agent = new FakeAgent({
      turn: (job) =>
        job
          .live('delta', { step: 1, at: 0, text: 'Two ' })
          .live('delta', { step: 1, at: 4, text: 'drafts' })
          .live('delta', { step: 1, at: 0, text: 'Two drafts wait' })
          .answer('Two drafts wait.'),
    })
    const { code, out, err } = await chat(agent, typed('what is waiting?'))
    expect({ code, out }).toEqual({ code: 0, out: 'Two drafts wait.\n' })
    expect(err).toContain(`${agent.url}, by key. /help, /quit.\n> `)
    expect(err).toMatch(/go on with tendril agent chat --conversation [0-9a-f-]{36}\n$/)
  })

  test('a model call that begins anew, and steps, begin a new line', async () => {
    await using agent = new FakeAgent({
      turn: (job) =>
        job
          .live('delta', { step: 1, at: 0, text: 'I thi' })
          .live('reset', { step: 1 })
          .live('delta', { step: 1, at: 0, text: 'I look.' })
          .add('step.started', {
            number: 2,
            kind: 'tool',
            name: 'growth_list_queue',
            summary: 'List content items',
          })
          .add('step.ended', {
            number: 2,
            kind: 'tool',
            name: 'growth_list_queue',
            state: 'failed',
            ms: 3,
          })
          .live('delta', { step: 3, at: 0, text: 'None' })
          .answer('Something else'),
    })
    const { out, err } = await chat(agent, typed('go'))
    expect(out).toBe('I thi\nI look.\nNone\nSomething else\n')
    expect(err).toContain('· List content items\n· growth_list_queue: failed\n')
  })

  test('/help explains, and is not sent', async () => {
    await using agent = new FakeAgent({ turn: echo })
    const { code, err } = await chat(agent, typed('/help', '/quit', 'more'))
    expect([code, agent.asked]).toEqual([0, []])
    expect(err).toContain('/items approve 2 is the second of the list shown last')
  })
})
test('--as-me talks as the person', async () => {
  await using agent = new FakeAgent({ turn: echo })
  await signIn(agent)
  await asPerson(agent, { typed: ['go'] }, '--as-me')
  expect(new Set(agent.asked.map(({ token }) => token))).toEqual(new Set(['Bearer eyperson']))
})

describe('Ctrl-C', () => {
  test('cancels the turn, and the conversation goes on', async () => {
    const interrupt: CliOptions['interrupt'] = {}
    await using agent = new FakeAgent({
      turn: (job) =>
        job.content === 'long'
          ? job.add('job.status', { status: 'running', error: null })
          : echo(job),
      cancelled: (job) => job.add('job.status', { status: 'cancelled', error: null }),
    })
    const running = chat(agent, { typed: ['long', 'more'], interrupt })
    await asked(agent, 'GET jobs/ID/events')
    expect(interrupt.send?.()).toBe(true)
    const { code, out, err } = await running
    expect({ code, out }).toEqual({ code: 0, out: 'You said more\n' })
    expect(err).toContain('cancelling …\n')
    expect(agent.routes.filter((route) => route === 'POST jobs/ID/cancel')).toHaveLength(1)
  })

  test('cancels a turn that asks for a decision', async () => {
    const interrupt: CliOptions['interrupt'] = {}
    await using agent = new FakeAgent({
      turn: (job) => job.ask({ summary: 'Post.' }),
      cancelled: (job) => job.add('job.status', { status: 'cancelled', error: null }),
    })
    await signIn(agent)
    const atPrompt = (stop?: AbortSignal) =>
      new Promise<undefined>((resolve) => {
        stop?.addEventListener('abort', () => resolve(undefined))
        interrupt.send?.()
      })
    const { code, out } = await asPerson(agent, { typed: ['go', atPrompt], interrupt })
    expect({ code, out }).toEqual({ code: 130, out: '' })
  })

  test('a second time leaves', async () => {
    const interrupt: CliOptions['interrupt'] = {}
    const controller = new AbortController()
    await using agent = new FakeAgent({
      turn: (job) => job.add('job.status', { status: 'running', error: null }),
    })
    const running = chat(agent, { typed: ['long', 'more'], interrupt, signal: controller.signal })
    await asked(agent, 'GET jobs/ID/events')
    interrupt.send?.()
    expect(interrupt.send?.()).toBe(false)
    controller.abort()
    expect((await running).code).toBe(130)
    expect(sent(agent)).toEqual(['long'])
  })
})
