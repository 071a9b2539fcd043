/** Deciding in a conversation what the agent asks. */
import { describe, expect, test } from 'bun:test'
import { agentChat } from '#test/support/cli/agent-chat'
import { FakeAgent, type FakeAgentOptions } from '#test/support/cli/fake-agent'
import type { CliOptions } from '#test/support/cli/host'

const { chat, signIn, asPerson, echo } = agentChat()

describe('an approval', () => {
  const text = 'Late again?\nNot with us.'
  const subject = { records: [], account: '@dockside', text, sha256: '1a2b3c4d5e6f' }
  const asking: FakeAgentOptions = {
    turn: (job) =>
      job.ask({
        summary: 'Post item:1 now on @dockside.',
        subject,
        arguments: { id: 'item:1' },
        why: ['publishes', 'untrusted: signal'],
      }),
    decided: (job, { status, arguments: args, reason }) =>
      job
        .add('job.status', { status: 'running', error: null })
        .answer(`${status} ${JSON.stringify(args)} ${reason ?? ''}`.trim()),
  }
  const QUESTION = 'approve? y, n, n REASON, or e to edit the text, a to edit the arguments: '
  const decisions = (agent: FakeAgent) =>
    agent.asked.filter(({ path }) => path.startsWith('approvals/'))

  test('shows what is decided, and a person decides with y', async () => {
    await using agent = new FakeAgent(asking)
    await signIn(agent)
    const { code, out, err } = await asPerson(agent, {
      typed: ['post it', 'maybe', 'y'],
      columns: 80,
    })
    expect({ code, out }).toEqual({ code: 0, out: 'approved {"id":"item:1"}\n' })
    expect(err).toContain(`Post item:1 now on @dockside.
  account  @dockside
  | Late again?
  | Not with us.
  sha256   1a2b3c4d
  why      publishes; untrusted: signal
${QUESTION}${QUESTION}`)
    expect(decisions(agent)).toMatchObject([{ method: 'POST', token: 'Bearer eyperson', body: {} }])
    expect(agent.asked[0]!.token).toBe('Bearer ak_test')
  })

  const answers: [string, CliOptions, string][] = [
    ['n', { typed: ['go', 'n'] }, 'rejected {"id":"item:1"}\n'],
    ['n with a reason', { typed: ['go', 'n not today'] }, 'rejected {"id":"item:1"} not today\n'],
    [
      'a in an editor, then y',
      { typed: ['go', 'a', 'y'], edit: (json) => json.replace('item:1', 'item:2') },
      'approved {"id":"item:2"}\n',
    ],
    [
      'a typed, then y',
      { typed: ['go', 'a', '{"id":"item:3"}', 'y'] },
      'approved {"id":"item:3"}\n',
    ],
    [
      'a and nothing that is JSON, then y',
      { typed: ['go', 'a', 'item:3', 'y'] },
      'approved {"id":"item:1"}\n',
    ],
    ['a, then n', { typed: ['go', 'a', '{"id":"item:3"}', 'n'] }, 'rejected {"id":"item:1"}\n'],
    [
      'e, which changes the text in an editor, then y',
      { typed: ['go', 'e', 'y'], edit: (before) => before.replace('Not with us.', 'Never.') },
      'approved {"id":"item:1","edited_body":"Late again?\\nNever."}\n',
    ],
    [
      'e, which leaves the text as it is, then y',
      { typed: ['go', 'e', 'y'], edit: (before) => before },
      'approved {"id":"item:1"}\n',
    ],
    [
      'e typed, then y',
      { typed: ['go', 'e', 'Late "no more"', 'y'] },
      'approved {"id":"item:1","edited_body":"Late \\"no more\\""}\n',
    ],
    [
      'e after a, then y',
      { typed: ['go', 'a', '{"id":"item:3"}', 'e', 'Again', 'y'] },
      'approved {"id":"item:3","edited_body":"Again"}\n',
    ],
  ]
  test.each(answers)('%s', async (_, options, out) => {
    await using agent = new FakeAgent(asking)
    await signIn(agent)
    const run = await asPerson(agent, options)
    expect({ code: run.code, out: run.out }).toEqual({ code: 0, out })
  })

  test('shows as codes what nobody would see of the call and of its changed text, and says how much that is', async () => {
    const hidden = { ...subject, text: 'Pay\u202e us\u{e0041}\u{e0042}' }
    await using agent = new FakeAgent({
      ...asking,
      turn: (job) => job.ask({ summary: 'Post\u200b it.', subject: hidden, arguments: {} }),
    })
    await signIn(agent)
    const { err, out } = await asPerson(agent, {
      typed: ['go', 'e', 'y'],
      edit: () => 'Pay us\u2066',
    })
    expect(err).toContain('Post[U+200B] it.\n')
    expect(err).toContain('  | Pay[U+202E] us[U+E0041][U+E0042]\n')
    expect(err).toContain('has 4 characters that nobody would see')
    expect(err).toContain('{"edited_body":"Pay us[U+2066]"}\n')
    expect(err).toContain('has 1 character that nobody would see')
    expect(err).not.toMatch(/[\u200b\u202e\u2066]|\u{e0041}/u)
    expect(decisions(agent)).toMatchObject([
      { body: { arguments: { edited_body: 'Pay us\u2066' } } },
    ])
    expect(out).toContain('approved')
  })

  test('of a webhook rule says where its secret is shown', async () => {
    const asked = {
      tool_name: 'create_webhook_rule',
      summary: 'Create a signed inbound webhook rule',
      arguments: { name: 'Orders' },
    }
    await using agent = new FakeAgent({ ...asking, turn: (job) => job.ask(asked) })
    await signIn(agent)
    const said = async (answer: string) => (await asPerson(agent, { typed: ['go', answer] })).err
    expect(await said('y')).toContain(
      `  the secret of the rule is shown once, at ${agent.jobs[0]!.approvals[0]!.url}\n`,
    )
    expect(await said('n')).not.toContain('the secret of the rule')
  })

  test('with a key alone gives the link, and the conversation goes on', async () => {
    await using agent = new FakeAgent({
      ...asking,
      turn: (job) => (job.content === 'go' ? asking.turn(job) : echo(job)),
    })
    const { code, out, err } = await chat(agent, { typed: ['go', 'more'] })
    expect({ code, out }).toEqual({ code: 0, out: 'You said more\n' })
    expect(err).toContain(`a person decides at ${agent.jobs[0]!.approvals[0]!.url}\n`)
    expect(decisions(agent)).toEqual([])
  })

  test('that somebody else decided is no question', async () => {
    await using agent = new FakeAgent({
      turn(job) {
        job.ask({ summary: 'Post.' })
        job.approvals[0]!.status = 'approved'
        void agent.options.decided?.(job, job.approvals[0]!)
      },
      decided: (job) => job.answer('posted'),
    })
    await signIn(agent)
    const { code, out, err } = await asPerson(agent, { typed: ['go'] })
    expect({ code, out }).toEqual({ code: 0, out: 'posted\n' })
    expect(err).not.toContain('approve?')
  })

  test('whose arguments do not fit is asked again', async () => {
    const wrong = {
      error: { code: 'invalid_input', message: 'id must be a uuid', request_id: 'r' },
    }
    await using agent = new FakeAgent({
      ...asking,
      instead: ({ path, body }) =>
        path.endsWith('/approve') && body.arguments
          ? Response.json(wrong, { status: 400 })
          : undefined,
    })
    await signIn(agent)
    const { code, err } = await asPerson(agent, { typed: ['go', 'e', '{"id":1}', 'y', 'n'] })
    expect(code).toBe(0)
    expect(err).toContain('invalid_input: id must be a uuid')
    expect(decisions(agent).map(({ path }) => path.split('/').at(-1))).toEqual([
      'approve',
      'reject',
    ])
  })

  test('that was decided otherwise meanwhile is reported, and the job goes on', async () => {
    const late = { error: { code: 'conflict', message: 'rejected already', request_id: 'r' } }
    await using agent = new FakeAgent({
      ...asking,
      instead({ path }) {
        if (!path.endsWith('/approve')) return undefined
        agent.jobs[0]!.approvals[0]!.status = 'rejected'
        agent.jobs[0]!.answer('not done')
        return Response.json(late, { status: 409 })
      },
    })
    await signIn(agent)
    const { code, out, err } = await asPerson(agent, { typed: ['go', 'y'] })
    expect({ code, out }).toEqual({ code: 0, out: 'not done\n' })
    expect(err).toContain('tendril: conflict: rejected already')
  })
})
