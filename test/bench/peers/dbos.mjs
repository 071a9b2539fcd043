/**
 * Posts due at one moment as workflows of DBOS, each of three durable steps: the intent, the send, the outcome. The intent's only record
 * is the checkpoint of its step, and the send is one insert, as into our sandbox.
 */
import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'
import { DBOS } from '@dbos-inc/dbos-sdk'
import pg from 'pg'

const url = process.env.DATABASE_URL
/** As many as our server has for decisions, and for its sandbox. */
const [SYSTEM_POOL, SANDBOX_POOL] = [10, 4]
const QUEUE = { workerConcurrency: 100, minPollingIntervalMs: 50 }
const ENQUEUED_AT_ONCE = 32

const pool = new pg.Pool({ connectionString: url, max: SANDBOX_POOL })

const SEND = `insert into sandbox.posts (account_id, text)
  select a.id, i.body from peer.item i join sandbox.accounts a on a.workspace_id = i.tenant_id where i.id = $1 returning id`
const OUTCOME = `update peer.item set status = 'posted', external_id = $2, posted_at = clock_timestamp() where id = $1`

const send = async (item) => {
  const { rows } = await pool.query({ name: 'send', text: SEND, values: [item] })
  return rows[0].id
}
const settle = async (item, externalId) => {
  await pool.query({ name: 'outcome', text: OUTCOME, values: [item, externalId] })
}

const post = async (item) => {
  await DBOS.runStep(async () => ({ item, at: Date.now() }), { name: 'intent' })
  const externalId = await DBOS.runStep(() => send(item), { name: 'send' })
  await DBOS.runStep(() => settle(item, externalId), { name: 'outcome' })
}

const logger = { info() {}, debug() {}, warn() {}, error: (...text) => console.error(...text) }
DBOS.setConfig({
  name: 'bench',
  // Both peers share a database, in which a version belongs to one application.
  applicationVersion: 'posts-1',
  systemDatabaseUrl: url,
  systemDatabasePoolSize: SYSTEM_POOL,
  logger,
})
const workflow = DBOS.registerWorkflow(post, { name: 'post' })
await DBOS.launch()
await DBOS.registerQueue('posts', QUEUE)

/** Enqueues a workflow for each item, all delayed until the same moment. */
const enqueue = async ({ ids, at }) => {
  let next = 0
  const caller = async () => {
    for (let id = ids[next++]; id; id = ids[next++]) {
      const delaySeconds = Math.max(0, (at - Date.now()) / 1_000)
      await DBOS.startWorkflow(workflow, { queueName: 'posts', enqueueOptions: { delaySeconds } })(
        id,
      )
    }
  }
  await Promise.all(Array.from({ length: ENQUEUED_AT_ONCE }, caller))
}

const server = createServer(async (request, response) => {
  try {
    if (request.method === 'POST') await enqueue(await json(request))
    response.end('ok')
  } catch (cause) {
    response.statusCode = 500
    response.end(String(cause?.stack))
  }
})
server.requestTimeout = 0
server.listen(Number(process.env.PORT), '127.0.0.1')
// A profiler writes its results only when the process exits by itself.
process.on('SIGTERM', () => process.exit(0))
