/**
 * Two servers, a model and a tool outside that take their time, the people who ask, and what is
 * counted of them.
 */
import type postgres from 'postgres'
import { scopes } from '#kernel/scopes'
import { brokenInvariants } from '#test/support/agent/invariants'
import { withOutside } from '#test/support/agent/outside-tool'
import { plannedReply } from '#test/support/agent/plan'
import { allowOutside } from '#test/support/agent/story'
import { type TestApp, testApp } from '#test/support/app'
import { freshDb } from '#test/support/database/db'
import { createFakeOpenAi, type FakeOpenAi } from '#test/support/model/fake-openai'
import { signIn } from '../agent/clients.ts'
import { type OutsideCall, repeatsOf, startOutside } from '../agent/outside-server.ts'
import { one, type Verdict, verdictOn, verdictOnNaive } from '../ledger.ts'
import { numbers } from '../numbers.ts'
import type { Asker } from './jobs.ts'
import { databaseOffset } from './times.ts'

export interface AgentSwitchOptions {
  /** Of all workspaces together, those included that others delegate. */
  jobs: number
  workspaces: number
  /** How long after an answer the workspace is watched. */
  watchMs: number
  seed: number
  /** The switch holds back what begins, and not what has begun. Must be found out. */
  naive: boolean
}

/** What a call on the wire takes: longer than a look for one. */
const [LEAST_MS, MOST_MS] = [40, 140]

export interface World {
  apps: [TestApp, TestApp]
  owner: postgres.Sql
  model: FakeOpenAi
  sent: OutsideCall[]
  next: () => number
  offset: number
  tally: Tally
  options: AgentSwitchOptions
}

interface Tally {
  pauses: number
  /** Calls outside in the answers of pause-all. */
  listed: number
  listed_unattended: number
  approved_in_pause: number
  /** Steps that people's jobs began during pauses. */
  went_on: number
  /** Unattended jobs that the last pause held, while all that people had asked for ended. */
  held: number
  begun_after_answer: number
  runs_after_answer: number
  models_after_stop: number
  sent_unlisted: number
  on_wire_unlisted: number
}

const untallied: Tally = {
  pauses: 0,
  listed: 0,
  listed_unattended: 0,
  approved_in_pause: 0,
  went_on: 0,
  held: 0,
  begun_after_answer: 0,
  runs_after_answer: 0,
  models_after_stop: 0,
  sent_unlisted: 0,
  on_wire_unlisted: 0,
}

const wireMs = (next: () => number): number => LEAST_MS + next() * (MOST_MS - LEAST_MS)

export const newAsker = async (app: TestApp): Promise<Asker> => {
  const { tenantId } = await app.newWorkspace()
  const { api_key: key } = await app.newKey([...scopes], tenantId)
  await allowOutside(app.owner, tenantId)
  return { tenantId, key, token: (await signIn(app.owner, tenantId)).token }
}

/**
 * Jobs are claimed whatever the switch says, once they have begun: their rows of work pass for a
 * person's.
 */
const ignoreSwitch = async (owner: postgres.Sql): Promise<void> => {
  await owner.unsafe(`create function ignore_switch() returns trigger language plpgsql as $$ begin
    new.origin = 'manual';
    return new; end $$`)
  await owner`create trigger ignore_switch before insert on work for each row
    when (new.kind = 'agent') execute function ignore_switch()`
}

export const newWorld = async (
  stack: AsyncDisposableStack,
  options: AgentSwitchOptions,
): Promise<World> => {
  const next = numbers(options.seed)
  const database = stack.use(await freshDb()).options
  const model = stack.use(await createFakeOpenAi())
  model.converseOtherwise(async (request) => {
    await Bun.sleep(wireMs(next))
    return plannedReply(request)
  })
  const { sent, url } = stack.use(startOutside(() => wireMs(next)))
  const send = async (text: string): Promise<void> => {
    await fetch(url, { method: 'POST', body: text })
  }
  // Pauses meet what is written down and not begun, and what is answered and not settled.
  const slowed = /^agent\.(claimed|thought|executing|outside\.read)$/
  const failpoints = (name: string) => (slowed.test(name) ? Bun.sleep(next() * 20) : undefined)
  const start = () =>
    testApp({
      database,
      env: { OPENAI_BASE_URL: model.url },
      overrides: { failpoints, tools: withOutside(send) },
    })
  const apps: World['apps'] = [stack.use(await start()), stack.use(await start())]
  const { owner } = apps[0]
  if (options.naive) await ignoreSwitch(owner)
  return {
    apps,
    owner,
    model,
    sent,
    next,
    offset: await databaseOffset(owner),
    tally: { ...untallied },
    options,
  }
}

/** Direct calls are jobs too, but for one step that is over at once. */
const countsOf = ({ owner }: World) =>
  one(
    owner<
      Record<string, number>[]
    >`select count(*)::int as jobs, count(*) filter (where kind = 'turn')::int as turns,
      count(*) filter (where kind = 'scheduled')::int as scheduled,
        count(*) filter (where kind = 'webhook')::int as webhook,
      count(*) filter (where kind = 'delegate')::int as delegated,
        count(*) filter (where status = 'completed')::int as completed,
      (select count(*) from agent_step where kind = 'tool' and state = 'done')::int as tools_done
        from agent_job where kind <> 'action'`,
  )

export const verdictOf = async (world: World): Promise<Verdict> => {
  const { tally, sent, model, owner, options } = world
  const {
    begun_after_answer,
    runs_after_answer,
    models_after_stop,
    sent_unlisted,
    on_wire_unlisted,
  } = tally
  const seen = await countsOf(world)
  const cut_off = model.chats.filter(({ signal }) => signal.aborted).length
  const repeated = repeatsOf(sent)
  const counts = {
    ...seen,
    model_calls: model.chats.length,
    models_cut_off: cut_off,
    outside: sent.length,
    repeated,
    ...tally,
  }
  if (options.naive) return verdictOnNaive(counts, { begun_after_answer })
  const { listed_unattended, approved_in_pause, went_on, held } = tally
  return verdictOn({
    counts,
    never: {
      begun_after_answer,
      runs_after_answer,
      models_after_stop,
      sent_unlisted,
      on_wire_unlisted,
      repeated,
      not_completed: seen.jobs! - seen.completed!,
    },
    atStake: { listed_unattended, approved_in_pause, went_on, held },
    broken: await brokenInvariants(owner),
  })
}
