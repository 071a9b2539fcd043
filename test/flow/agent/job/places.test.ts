/**
 * At most four calls of models and tools run for people of a workspace at once. What is only a
 * letter waits for none of them.
 */
import { expect, test } from 'bun:test'
import type { OnBehalf } from '#domain/agent/job/job'
import { newGate } from '#test/support/actors/letters'
import { overJob, turn } from '#test/support/agent/agent'
import { plannedAnswer, planText } from '#test/support/agent/plan'
import { eventually } from '#test/support/app'
import { insertItem } from '#test/support/database/writes'
import { scriptedModel } from '#test/support/model/scripted-model'
import { signedIn } from '#test/support/session'
import { useApp } from '#test/support/use'

const HELD = 'think for long'
const gate = newGate()
const asked: string[] = []
const thinker = scriptedModel(async ({ messages }, answers) => {
  const said = messages.findLast(({ role }) => role === 'user')
  const text = said?.role === 'user' ? said.text : ''
  asked.push(text)
  if (text !== HELD) return plannedAnswer(text, answers)
  await gate.opened
  return { text: 'Done.' }
})
const app = useApp({ overrides: { thinker } })

test('a command that was approved is executed while four thoughts of the workspace run', async () => {
  const { personId, sessionId, key } = await signedIn(app, app.tenantId, 'owner')
  const by: OnBehalf = { kind: 'session', id: sessionId, personId }
  const item = await insertItem(app, app.tenantId)
  const content = planText([[['growth_approve_item', { id: item }]]])
  const waiting = await turn(app, { content, by })
  const [approval] = await eventually(
    () =>
      app.owner<
        { id: string }[]
      >`select id from agent_approval where job_id = ${waiting} and status = 'pending'`,
    ({ length }) => length > 0,
  )
  const other = await signedIn(app, app.tenantId, 'editor')
  const byOther: OnBehalf = { kind: 'session', id: other.sessionId, personId: other.personId }
  const held = await Promise.all(
    [by, by, by, byOther, byOther].map((asker) => turn(app, { content: HELD, by: asker })),
  )
  const heldNow = () => asked.filter((text) => text === HELD).length
  await eventually(heldNow, (count) => count === 4)
  expect(
    (await app.send('POST', `/api/v1/agent/approvals/${approval!.id}/approve`, { key, body: {} }))
      .status,
  ).toBe(200)
  const statusOf = async () =>
    (await app.owner<{ status: string }[]>`select status from item where id = ${item}`)[0]!.status
  expect(await eventually(statusOf, (status) => status === 'approved')).toBe('approved')
  expect(heldNow()).toBe(4)
  expect(asked.filter((text) => text === content)).toHaveLength(1)
  gate.open()
  for (const id of [waiting, ...held])
    expect(await overJob(app, id)).toMatchObject({ status: 'completed' })
  expect([heldNow(), asked.filter((text) => text === content).length]).toEqual([5, 2])
})
