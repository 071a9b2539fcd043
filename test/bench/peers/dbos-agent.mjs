/**
 * Jobs of an agent as workflows of DBOS: each call of the model and each command is a durable step. A command is one statement that writes the
 * same rows as ours; its checkpoint is the next.
 */
import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'
import { DBOS } from '@dbos-inc/dbos-sdk'
import pg from 'pg'

const url = process.env.DATABASE_URL
/** As many as our server has for decisions, for each of the two. */
const POOL = 10

const pool = new pg.Pool({ connectionString: url, max: POOL })

const REJECT = `with changed as (
    update item set status = 'rejected', updated_at = now() where tenant_id = $1 and id = $2 and status = 'drafted' returning id
  ), noted as (
    insert into audit (id, tenant_id, at, actor_kind, actor_id, surface, operation, request_id, detail)
    select gen_random_uuid(), $1, now(), 'agent', 'bench', 'agent', 'growth.items.reject', gen_random_uuid(), '{}' from changed
  ) select id from changed`

const reject = async (tenant, id) => {
  const { rowCount } = await pool.query({ name: 'reject', text: REJECT, values: [tenant, id] })
  return rowCount === 1 ? 'rejected' : 'there is no such draft'
}

const think = async (messages) => {
  const body = JSON.stringify({ model: 'at-once', messages, max_completion_tokens: 4_000 })
  const reply = await fetch(process.env.MODEL_URL, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  })
  if (!reply.ok) throw new Error(`${reply.status} ${await reply.text()}`)
  return (await reply.json()).choices[0].message
}

/** Calls of one answer run one after the other, as they may depend on each other. */
const job = async ({ tenant, message }) => {
  const messages = [{ role: 'user', content: message }]
  for (;;) {
    const answer = await DBOS.runStep(() => think(messages), { name: 'think' })
    messages.push(answer)
    if (!answer.tool_calls) return answer.content
    for (const { id, function: called } of answer.tool_calls) {
      const content = await DBOS.runStep(() => reject(tenant, JSON.parse(called.arguments).id), {
        name: called.name,
      })
      messages.push({ role: 'tool', tool_call_id: id, content })
    }
  }
}

const logger = { info() {}, debug() {}, warn() {}, error: (...text) => console.error(...text) }
DBOS.setConfig({
  name: 'bench-agent',
  // Both peers share a database, in which a version belongs to one application.
  applicationVersion: 'jobs-1',
  systemDatabaseUrl: url,
  systemDatabasePoolSize: POOL,
  logger,
})
const workflow = DBOS.registerWorkflow(job, { name: 'job' })
await DBOS.launch()

const run = async (one) => (await DBOS.startWorkflow(workflow)(one)).getResult()

const server = createServer(async (request, response) => {
  try {
    if (request.method === 'POST') await Promise.all((await json(request)).map(run))
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
