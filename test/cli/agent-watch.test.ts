/** Following a job of the agent, with a server that speaks as the agent's routes do. */
import { describe, expect, test } from 'bun:test'
import { newId } from '#kernel/ids'
import { agentChat } from '#test/support/cli/agent-chat'
import { FakeAgent, type FakeJob } from '#test/support/cli/fake-agent'

const { home, at, echo, asked } = agentChat()

describe('tendril agent jobs watch', () => {
  const watch = (agent: FakeAgent, job: FakeJob, ...argv: string[]) =>
    home.run(['agent', 'jobs', 'watch', job.id, ...argv], at(agent))
  const jobIn = async (agent: FakeAgent): Promise<FakeJob> => {
    await fetch(`${agent.url}/api/v1/agent/conversations/x/messages`, {
      method: 'POST',
      body: '{"content":"go"}',
    })
    return agent.jobs[0]!
  }

  test('follows a job to its end, past an approval', async () => {
    await using agent = new FakeAgent({ turn: (job) => job.ask({ summary: 'Post item:1 now.' }) })
    const job = await jobIn(agent)
    const running = watch(agent, job)
    await asked(agent, 'GET jobs/ID')
    job
      .add('step.started', {
        number: 2,
        kind: 'tool',
        name: 'growth_post_item',
        summary: 'Post an approved item now',
      })
      .answer('Posted.')
    const { code, out, err } = await running
    expect({ code, out }).toEqual({ code: 0, out: 'Posted.\n' })
    const asks = `  owners and approvers can decide: Ada\n  a person decides at ${job.approvals[0]!.url}\n`
    expect(err).toBe(`Post item:1 now.\n${asks}· Post an approved item now\n`)
  })

  test('with --json prints the events as the server keeps them', async () => {
    await using agent = new FakeAgent({
      turn: (job) =>
        job
          .ask({ summary: 'Post.' })
          .add('job.status', { status: 'failed', error: 'approval_expired' }),
    })
    const job = await jobIn(agent)
    const { code, out, err } = await watch(agent, job, '--json')
    expect({ code, err }).toEqual({ code: 10, err: '' })
    expect(
      out
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual(job.events)
  })

  test.each([
    ['a stream', []],
    ['a poll', ['--json']],
  ])('%s from an event that a restored server has not begins again', async (_, flags) => {
    const part = (seq: number, type: string, data: object) => ({ seq, at: '', type, data })
    const answers = [
      { resync: false, events: [part(7, 'step.ended', { number: 3 })] },
      {
        resync: true,
        events: [
          part(1, 'message', { id: newId(), seq: 2, role: 'assistant', content: 'Here.' }),
          part(2, 'job.status', { status: 'completed', error: null }),
        ],
      },
    ]
    const afters: string[] = []
    const sent = ({ resync, events }: (typeof answers)[number]): string =>
      [...(resync ? [part(0, 'resync', {})] : []), ...events]
        .map(
          ({ seq, type, data }) => `id: ${seq}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`,
        )
        .join('')
    await using agent = new FakeAgent({
      turn: () => {},
      instead({ path }) {
        if (!path.includes('/events')) return undefined
        afters.push(new URL(path, 'http://x').searchParams.get('after') ?? '0')
        const answer = answers.shift()!
        const nextSeq = answer.events.at(-1)!.seq
        return flags.length > 0
          ? Response.json({ ...answer, nextSeq, done: answer.resync })
          : new Response(sent(answer), { headers: { 'content-type': 'text/event-stream' } })
      },
    })
    const job = await jobIn(agent)
    const { code, out } = await watch(agent, job, ...flags)
    expect([code, afters]).toEqual([0, ['0', '7']])
    expect(out).toContain('Here.')
  })

  test('a job that does not exist is not found', async () => {
    await using agent = new FakeAgent({ turn: echo })
    const { code, err } = await home.run(['agent', 'jobs', 'watch', newId()], at(agent))
    expect([code, err.split('\n')[0]]).toEqual([6, 'tendril: not_found: no such job'])
  })
})
