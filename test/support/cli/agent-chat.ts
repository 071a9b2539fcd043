/**
 * The agent's commands in tests of the command line, with a server that behaves like the agent's
 * routes.
 */
import { eventually } from '../eventually.ts'
import type { FakeAgent, FakeJob } from './fake-agent.ts'
import { cliHome } from './home.ts'
import type { CliOptions } from './host.ts'

/** For the tests of one file. */
export const agentChat = () => {
  const home = cliHome()
  const at = (agent: FakeAgent): CliOptions => ({
    env: { TENDRIL_API_URL: agent.url, TENDRIL_API_KEY: 'ak_test' },
  })
  const chat = (agent: FakeAgent, options: CliOptions, ...argv: string[]) =>
    home.run(['agent', 'chat', ...argv], { ...at(agent), ...options })

  /** A key, together with a person's session. */
  const signIn = (agent: FakeAgent) =>
    home.write({
      current: 'default',
      profiles: {
        default: {
          api_url: agent.url,
          api_key: 'ak_test',
          session: { token: 'eyperson', expires_at: '2999-01-01T00:00:00Z' },
        },
      },
    })
  const asPerson = (agent: FakeAgent, options: CliOptions, ...argv: string[]) =>
    home.run(['agent', 'chat', '--api-url', agent.url, ...argv], options)

  const echo = (job: FakeJob) =>
    job.add('job.status', { status: 'running', error: null }).answer(`You said ${job.content}`)
  const asked = (agent: FakeAgent, route: string) =>
    eventually(
      () => agent.routes.includes(route),
      (is) => is,
    )
  const sent = (agent: FakeAgent) =>
    agent.asked.filter(({ path }) => path.endsWith('/messages')).map(({ body }) => body.content)
  return { home, at, chat, signIn, asPerson, echo, asked, sent }
}
