/**
 * The first minute with the agent at a real server, without a model: the main job, by commands on
 * the command line.
 */
import { beforeAll, expect, test } from 'bun:test'
import { type CliOptions, cli } from '#test/support/cli/host'
import { temporaryFolder } from '#test/support/folder'
import { softwareProfile } from '#test/support/growth/profiles'
import { decide, type Joined, joinAs } from '#test/support/people'
import { useApp, useEach } from '#test/support/use'

let owner: Joined
let key: string
const app = useApp()
beforeAll(async () => {
  owner = await joinAs(app)
  await app.send('PUT', 'profile', { body: softwareProfile })
  key = (await app.newKey(['api:read', 'api:write', 'workspace:use'])).api_key
})
const folder = useEach(temporaryFolder)

const run = (argv: string[], options: CliOptions = {}) =>
  cli([...argv, '--api-url', app.url], { home: folder.path, ...options })

const logIn = async (...argv: string[]) => {
  const { code } = await run(['login', ...argv], {
    async meanwhile({ err }) {
      const [userCode] = /[A-Z]{4}-[A-Z]{4}/.exec(err) ?? []
      expect((await decide(app, owner.access, userCode!, { decision: 'approve' })).status).toBe(200)
    },
  })
  expect(code).toBe(0)
}

const profile = `/profile update --goal 'Book demos' --writing-dna.stories 'I drove a delivery van for a week.'`
const draft = '/batches create --count 3 --focus "late deliveries"'
const posted = async () =>
  (await app.owner<{ n: number }[]>`select count(*)::int n from item where status = 'posted'`)[0]!.n
const approvals = async () =>
  (await app.owner<{ n: number }[]>`select count(*)::int n from agent_approval`)[0]!.n

test('a person goes from a profile to a post, and each command is that person’s own act', async () => {
  await logIn('--session')
  const [before, asked] = [await posted(), await approvals()]
  const typed = [
    profile,
    draft,
    'What is waiting?',
    '/items approve 2',
    '/items post-now 2',
    'what was posted?',
    'please post the rest',
  ]
  const { code, out, err } = await run(['agent', 'chat'], { typed, columns: 100 })
  expect(code).toBe(0)
  expect(err).not.toContain('tendril:')
  const [, waiting = '', done] = out.split(/^(?=items \(\d+\):$)/m)
  const second = [...waiting.matchAll(/^ {2}- id: (item:\d+)$/gm)][1]![1]!
  expect(out).toContain(`item:\n  id: ${second}\n`)
  expect(done).toContain(`- id: ${second}\n`)
  expect(out).toContain(
    'No model is set (OPENAI_API_KEY). I can run commands; nearest to what you wrote:\n  /items post-now 1\n',
  )
  expect(await posted()).toBe(before + 1)
  expect(await approvals()).toBe(asked)
})

test('with a key alone, what publishes waits for a person, who decides elsewhere; the job then goes on', async () => {
  const { code, err } = await run(['agent', 'chat', '--api-key', key], {
    input: [draft, '/items approve 1'].join('\n'),
  })
  const [, approval] = /a person decides at \S+\/approvals\/(\S+)/.exec(err) ?? []
  const [, job] = /follow it with tendril agent jobs watch (\S+)/.exec(err) ?? []
  expect([code, err.includes('  | ')]).toEqual([7, true])
  await logIn('--session')
  expect((await run(['agent', 'approvals', 'approve', approval!])).code).toBe(0)
  const watched = await run(['agent', 'jobs', 'watch', job!, '--as-me'])
  expect([watched.code, watched.out.includes('status: approved')]).toEqual([0, true])
})

test('a person who is signed in beside a key decides at the terminal', async () => {
  await logIn('--session')
  const { code, out, err } = await run(['agent', 'chat', '--api-key', key], {
    typed: [
      draft,
      '/items approve 1',
      'n not this one',
      '/items list --status drafted',
      '/items approve 1',
      'y',
    ],
    columns: 100,
  })
  expect(code).toBe(0)
  expect(err.match(/approve\? y, n/g)).toHaveLength(2)
  expect(err).toMatch(/ {2}sha256 {3}[0-9a-f]{8}\n/)
  expect(out).toMatch(/^A person rejected this call: not this one$/m)
  expect(out).toContain('status: approved')
})
