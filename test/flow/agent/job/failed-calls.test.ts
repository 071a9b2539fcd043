/**
 * What the log says of calls that failed: of which workspace, job and request, and once a minute.
 */
import { expect, test } from 'bun:test'
import { createLog } from '#kernel/log'
import { createOpenAiThinker } from '#port/model/openai/thinker'
import { eventually } from '#test/support/app'
import { signedIn } from '#test/support/session'
import { useApp } from '#test/support/use'

const lines: Record<string, unknown>[] = []
const log = createLog('info', { write: (line) => void lines.push(JSON.parse(line)) })
/** Nobody listens there. */
const baseUrl = 'http://127.0.0.1:9'
const thinker = createOpenAiThinker({
  apiKey: 'none',
  baseUrl,
  timeoutMs: 5_000,
  silenceMs: 5_000,
  stream: true,
  log,
})
const app = useApp({
  log,
  overrides: { thinker },
  env: { OPENAI_API_KEY: 'none', OPENAI_BASE_URL: baseUrl },
})

const place = async () => {
  const { tenantId } = await app.newWorkspace()
  const { key } = await signedIn(app, tenantId, 'owner')
  return {
    tenantId,
    send: (path: string, body: unknown) => app.send('POST', `/api/v1/agent/${path}`, { key, body }),
  }
}

test('a failed call of the model is logged with its workspace and job, and those of its other jobs are counted', async () => {
  const { tenantId, send } = await place()
  const { conversation } = (await send('conversations', {})).body
  const ids: string[] = []
  for (let n = 0; n < 4; n++) {
    const { job } = (await send(`conversations/${conversation.id}/messages`, { content: 'Hello' }))
      .body
    ids.push(job.id)
    await eventually(
      () =>
        app.owner`select 1 from agent_step where job_id = ${job.id} and state = 'ready'
          and attempt > 0`,
      ({ length }) => length === 1,
    )
    await send(`jobs/${job.id}/cancel`, {})
  }
  const failed = lines.filter(
    ({ workspace, msg }) => workspace === tenantId && msg === 'model call failed',
  )
  expect(failed).toMatchObject([
    { workspace: tenantId, kind: 'agent', job: ids[0], failure: 'unreachable' },
  ])
})

test('a failed request is logged with its workspace, job, operation and request', async () => {
  const { tenantId } = await place()
  const { key } = await signedIn(app, tenantId, 'owner')
  const job = crypto.randomUUID()
  await app.owner`alter table agent_job rename to moved`
  const ask = (id: string) =>
    app.send('GET', `/api/v1/agent/jobs/${job}`, { key, headers: { 'x-request-id': id } })
  try {
    for (const id of ['first', 'second', 'third']) expect((await ask(id)).status).toBe(500)
  } finally {
    await app.owner`alter table moved rename to agent_job`
  }
  const failed = lines.filter(({ msg }) => msg === 'a request failed')
  expect(failed).toMatchObject([
    { workspace: tenantId, job, operation: 'agent.jobs.get', request_id: 'first' },
  ])
})
