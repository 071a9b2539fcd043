/**
 * A server with an agent, and workspaces with a channel and an endpoint; and who stands outside:
 * their provider and receiver.
 */

import { newId } from '#kernel/ids'
import { CHANNEL_SECRET } from '../../support/channels/channels.ts'
import { newPerson } from '../../support/session.ts'
import { addAgentTenants } from '../agent/stage.ts'
import { ask } from '../client.ts'
import { type Running, startProcess } from '../spawn.ts'
import { startServer, type Tenant, type World } from '../world.ts'
import { setEndpoint } from './delivery.ts'

/** Takes answers of channels, and events. */
interface Outside extends AsyncDisposable {
  port: number
  url: string
  /** Resolves when the first message in this thread has arrived, with its time. */
  answered(thread: string): Promise<number>
  /** How many events have arrived. */
  events: number
}

/** A workspace, and by what its channel knows it. */
export interface Home {
  tenant: Tenant
  routingKey: string
  /** Linked to a member, each of whom can send sixty messages a minute. */
  senders: string[]
}

export interface Scene extends AsyncDisposable {
  world: World
  server: Running
  outside: Outside
  own: Home
  other: Home
}

const ANSWER_WITHIN_MS = 180_000

const openOutside = (): Outside => {
  const waiting = new Map<string, (at: number) => void>()
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      if (new URL(request.url).pathname === '/events') outside.events++
      else waiting.get(((await request.json()) as { thread: string }).thread)?.(performance.now())
      return new Response(null, { status: 204 })
    },
  })
  const outside: Outside = {
    port: server.port!,
    url: `http://127.0.0.1:${server.port}`,
    events: 0,
    async answered(thread) {
      const { promise, resolve, reject } = Promise.withResolvers<number>()
      waiting.set(thread, resolve)
      const late = setTimeout(
        () => reject(new Error(`no answer came within ${ANSWER_WITHIN_MS} ms`)),
        ANSWER_WITHIN_MS,
      )
      return await promise.finally(() => {
        clearTimeout(late)
        waiting.delete(thread)
      })
    },
    [Symbol.asyncDispose]: () => server.stop(true),
  }
  return outside
}

const SENDERS = 20

/** Connects a channel that its provider has proven, with senders who are members. */
const openHome = async (
  world: World,
  server: Running,
  { url }: Outside,
  tenant: Tenant,
): Promise<Home> => {
  const { owner } = world
  const routingKey = newId()
  const given = {
    channel: 'dev',
    routingKey,
    config: { url: `${url}/channel` },
    credentials: { secret: CHANNEL_SECRET },
  }
  const { connection } = await ask(server, tenant, 'POST', 'channels', given)
  const isActive = async () =>
    (await ask(server, tenant, 'GET', `channels/${connection.id}`)).connection.status === 'active'
  for (let tries = 0; !(await isActive()); tries++) {
    if (tries > 100) throw new Error('a channel was not proven')
    await Bun.sleep(50)
  }
  const { member } = await newPerson(owner, tenant.id)
  const senders = Array.from({ length: SENDERS }, (_, nth) => `sender-${nth}`)
  await owner`insert into channel_identity (id, tenant_id, connection_id, external_id, person_id,
    verified_at, created_at, updated_at)
    select gen_random_uuid(), ${tenant.id}, ${connection.id}, sender, ${member.personId}, now(),
      now(), now() from unnest(${senders}::text[]) sender`
  await setEndpoint(world, tenant, `${url}/events`)
  return { tenant, routingKey, senders }
}

/** The model answers at once: what is measured is ours. */
export const openScene = async (world: World): Promise<Scene> => {
  await using stack = new AsyncDisposableStack()
  const outside = stack.use(openOutside())
  const model = stack.use(
    await startProcess([process.execPath, 'test/bench/agent/model.ts'], { MODEL_MS: '0' }),
  )
  const tenants = await addAgentTenants(world, 2)
  const models = {
    OPENAI_BASE_URL: `http://127.0.0.1:${model.port}/v1`,
    MODEL_FAST: 'at-once',
    MODEL_REASONING: 'as-soon',
  }
  const server = stack.use(
    await startServer(world, { ...models, EGRESS_ALLOW: `127.0.0.1:${outside.port}` }),
  )
  const unlimited = {
    agent_tokens_day: -1,
    agent_tokens_month: -1,
    agent_cost_month: -1,
    agent_calls_hour: -1,
  }
  await world.owner`update tenant set overrides = ${world.owner.json(unlimited)}
    where id = any(${tenants.map(({ id }) => id)}::uuid[])`
  const [own, other] = [
    await openHome(world, server, outside, tenants[0]!),
    await openHome(world, server, outside, tenants[1]!),
  ]
  const owned = stack.move()
  return { world, server, outside, own, other, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}
