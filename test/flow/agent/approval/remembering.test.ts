/** A rule that lets a tool write outside holds for the tool as it was shown. */
import { expect, test } from 'bun:test'
import { jobOf, overJob, turn } from '#test/support/agent/agent'
import { OUTSIDE, withOutside } from '#test/support/agent/outside-tool'
import { plannedModel, planText } from '#test/support/agent/plan'
import { eventually } from '#test/support/app'
import { signedIn } from '#test/support/session'
import { useApp } from '#test/support/use'

const notes: string[] = []
const send = async (text: string): Promise<void> => void notes.push(text)
const app = useApp({ overrides: { thinker: plannedModel(), tools: withOutside(send) } })

const noting = async (text: string): Promise<string> => {
  const { id } = await app.newKey(['api:read', 'api:write', 'workspace:use'])
  return turn(app, { content: planText([[[OUTSIDE, { text }]]]), by: { kind: 'key', id, personId: null } })
}

const asked = async (job: string): Promise<string> => {
  await eventually(
    () => jobOf(app, job),
    ({ status }) => status === 'waiting_approval',
  )
  return (await app.owner<{ id: string }[]>`select id from agent_approval where job_id = ${job}`)[0]!.id
}

test('a remembered approval allows equal tools, and no tool whose definition has changed', async () => {
  const first = await noting('one')
  const { key } = await signedIn(app, app.tenantId, 'owner')
  const approve = await app.send('POST', `/api/v1/agent/approvals/${await asked(first)}/approve`, { key, body: { remember: 'workspace' } })
  expect(approve.status).toBe(200)
  await overJob(app, first)
  await overJob(app, await noting('two'))
  expect(notes).toEqual(['one', 'two'])
  await app.owner`update agent_tool_rule set definition_hash = 'of another definition' where tool_name = ${OUTSIDE}`
  await asked(await noting('three'))
  expect(notes).toEqual(['one', 'two'])
})
