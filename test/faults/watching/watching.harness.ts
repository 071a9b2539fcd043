/**
 * A real Prometheus scrapes two servers of one database under load: it counts what was done, and
 * its alerts fire when a server is not ready, requests fail and posts go out late.
 * `npm run fault:watching -- --seconds 20`.
 */
import { client, eventually } from '#test/support/app'
import { makeItemDue } from '#test/support/database/writes'
import { type Story, storyAt } from '#test/support/growth/story'
import { newDeployment } from '#test/support/processes/server'
import { type Fleet, startFleet, type Tenant } from '../fleet.ts'
import { type Verdict, verdictOn } from '../ledger.ts'
import { alone } from '../own-database.ts'
import { type Prometheus, startPrometheus } from './prometheus.ts'

interface WatchingOptions {
  /** How long there is only load. */
  seconds: number
}

const TENANTS = 6
const POSTS = 10
const TOKEN = 'a-token-of-some-length'
/** An alert fires, or ends, within this time. */
const TOLD_WITHIN_MS = 60_000
const LATE_MS = 90_000

/** Commands and reads of each workspace, one after the other, until `ends`. */
const load = async (url: string, { key }: Tenant, isOver: () => boolean): Promise<number> => {
  const send = client(url, key)
  let done = 0
  while (!isOver()) {
    const { status } = await send('POST', 'automation/resume-all')
    if (status === 200) done++
    await send('GET', 'overview')
  }
  return done
}

const sum = async (prometheus: Prometheus, query: string): Promise<number> =>
  (await prometheus.query(query)).reduce((total, { value }) => total + value, 0)

const tells = (prometheus: Prometheus, alert: string, fires: boolean): Promise<boolean> =>
  eventually(
    () => prometheus.firing(),
    (firing) => firing.includes(alert) === fires,
    TOLD_WITHIN_MS,
  ).then(
    () => true,
    () => false,
  )

/** Posts that are due now, or were long ago. */
const post = async ({ owner }: Fleet, story: Story, lateMs: number): Promise<void> => {
  const ids = await Promise.all(Array.from({ length: POSTS }, () => story.scheduled(3_600_000)))
  const at = new Date(Date.now() - lateMs)
  for (const id of ids) await makeItemDue({ owner }, id, at)
  await owner`update actor set wake_at = ${at} where tenant_id = ${story.tenantId}`
  await story.send('POST', 'automation/resume-all')
  for (const id of ids) await story.settled(id, 'posted')
}

const DONE = 'tendril_letters_total{letter="growth.automation.resumeAll",outcome="done"}'

/** What the counters say once the load has ended. */
const counted = async (prometheus: Prometheus, commands: number): Promise<number> =>
  await eventually(
    () => sum(prometheus, DONE),
    (found) => found >= commands,
    10_000,
  ).catch(() => sum(prometheus, DONE))

/** One server loses the database, while its callers go on. */
const lose = async (fleet: Fleet, prometheus: Prometheus) => {
  const [{ proxy, process }] = fleet.members as [Fleet['members'][0]]
  let isOver = false
  const callers = fleet.tenants.map((tenant) => load(process.url, tenant, () => isOver))
  await proxy.refuse()
  const told = {
    not_ready: await tells(prometheus, 'TendrilNotReady', true),
    errors: await tells(prometheus, 'TendrilErrors', true),
  }
  isOver = true
  await Promise.all(callers)
  await proxy.open()
  return { ...told, ready_again: await tells(prometheus, 'TendrilNotReady', false) }
}

export async function runWatching({ seconds }: WatchingOptions): Promise<Verdict> {
  await using deployment = await newDeployment()
  const env = { METRICS_TOKEN: TOKEN }
  await using fleet = await startFleet({ servers: 2, tenants: TENANTS, env, deployment })
  const urls = fleet.members.map(({ process }) => process.url)
  const targets = urls.map((url) => new URL(url).host)
  await using prometheus = await startPrometheus(targets, TOKEN)
  const ends = performance.now() + seconds * 1_000
  const isOver = () => performance.now() > ends
  const running = fleet.tenants.map((tenant, n) => load(urls[n % urls.length]!, tenant, isOver))
  const workspace = await deployment.firstWorkspace()
  const send = client(urls[0]!, workspace.key) as Story['send']
  const story = storyAt({ owner: fleet.owner, send }, workspace)
  await post(fleet, story, 0)
  const commands = (await Promise.all(running)).reduce((total, done) => total + done, 1)
  const health = Object.values(await prometheus.targets())
  const found = await counted(prometheus, commands)
  const posted = await sum(prometheus, 'tendril_posts_total{outcome="posted"}')
  const rate = await sum(prometheus, 'sum(rate(tendril_http_answers_total{status="2xx"}[15s]))')
  const quiet = await prometheus.firing()
  await post(fleet, story, LATE_MS)
  const late = await tells(prometheus, 'TendrilPostsLate', true)
  const told = await lose(fleet, prometheus)
  const never = {
    targets_down: health.filter((is) => is !== 'up').length + targets.length - health.length,
    commands_not_counted: Math.max(0, commands - found),
    posts_not_counted: POSTS - posted,
    alerts_without_cause: quiet.length,
    alerts_missed: [late, ...Object.values(told)].filter((is) => !is).length,
  }
  const counts = { seconds, ...never, commands, posts: posted, answers_per_s: Math.round(rate) }
  return verdictOn({ counts, never, broken: [] })
}

if (import.meta.main) await alone('watching', { seconds: 20 }, runWatching)
