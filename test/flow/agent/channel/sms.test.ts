/** What conversations by SMS have of their own: their senders can be forged. */
import { expect, test } from 'bun:test'
import { HIDDEN } from '#domain/agent/job/views'
import { channelJobs, linked } from '#test/support/channels/dev-posts'
import { repliesWith } from '#test/support/channels/replies'
import { codeIn, linkCode, sendersOf } from '#test/support/channels/senders'
import { smsStory } from '#test/support/channels/sms-story'
import { useChannels } from '#test/support/channels/world'
import { eventually } from '#test/support/eventually'
import { signedIn } from '#test/support/session'
import { secretsIn, secretsInTables } from '#test/support/texts/secrets'

const world = useChannels()
const [ADA, EVE] = ['+4915112345678', '+4915199999999']

test('the second code is asked for in words, and the audit has both steps', async () => {
  const sms = await smsStory(world)
  const said = await sms.says(ADA, await linkCode(sms))
  const [line] = await said.answers(1)
  expect(line).toMatch(
    /^Somebody asked to be known here as [^ ]+@example\.com, from this address\./,
  )
  await sms.says(ADA, codeIn(line))
  await said.answers(2)
  const details = await world.app.owner`select detail from audit where tenant_id = ${sms.tenantId}
      and detail ? 'code' order by id`
  expect(details.map(({ detail }) => `${detail.code} ${detail.sender}`)).toEqual([
    `second ${ADA}`,
    `linked ${ADA}`,
  ])
})

test('the second code works from its own sender alone, once, and until the next code', async () => {
  const sms = await smsStory(world, { senderPolicy: 'members' })
  const first = await linkCode(sms)
  const [line] = await (await sms.says(ADA, first)).answers(1)
  // Whoever sees it elsewhere, and the first one again.
  for (const text of [codeIn(line), first]) await sms.says(EVE, text)
  await sms.says(ADA, first)
  expect(await sendersOf(sms)).toEqual([])
  const next = await linkCode(sms)
  await sms.says(ADA, codeIn(line))
  expect(await sendersOf(sms)).toEqual([])
  const told = await (await sms.says(EVE, next)).answers(2)
  const evesLine = told.find((text) => text.startsWith('Somebody asked'))
  await world.app.owner`update channel_link_code set expires_at = now()
    where tenant_id = ${sms.tenantId}`
  await sms.says(EVE, codeIn(evesLine))
  expect([await sendersOf(sms), await channelJobs(world.app, sms)]).toEqual([[], []])
})

test('nobody in the workspace sees a second code: a member who forges a sender cannot answer for it', async () => {
  const { app } = world
  const sms = await smsStory(world)
  const said = await sms.says(ADA, await linkCode(sms))
  const second = codeIn((await said.answers(1))[0])
  const replies = await repliesWith(sms, 'sent')
  expect(replies).toMatchObject([{ recipient: ADA, text: expect.stringContaining('XXXX-XXXX') }])
  const exported = await app.send('GET', '/api/v1/app/workspace/export', { key: sms.key })
  const told = [
    JSON.stringify(replies),
    exported.text,
    JSON.stringify((await sms.send('GET', 'app/audit')).body),
  ]
  for (const text of told) expect(secretsIn(text, { second })).toEqual([])
  expect(await secretsInTables(app.owner, { second, letters: second.replace('-', '') })).toEqual([])
  expect(
    await app.owner`select 1 from channel_reply where tenant_id = ${sms.tenantId}
      and secret is not null`,
  ).toHaveLength(0)
  await sms.says(ADA, 'XXXX-XXXX')
  expect(await sendersOf(sms)).toEqual([])
})

test('a message in the name of a member stops nothing by itself: it asks, and the person decides on the page', async () => {
  const sms = await smsStory(world)
  await linked(world.app, sms, ADA, (await signedIn(world.app, sms.tenantId, 'owner')).personId)
  const pausedAt = async () => (await sms.send('GET', 'growth/automation')).body.automation.since
  const said = await sms.says(ADA, 'use growth_pause_automation')
  expect((await said.answers(1))[0]).toContain('This needs a decision')
  const { approvals } = (await sms.send('GET', 'agent/approvals?status=pending')).body
  expect(approvals).toMatchObject([
    {
      tool_name: 'growth_pause_automation',
      // What was read is for those who see the conversation, which is the member's own.
      why: ['anybody could have written the message', `untrusted: ${HIDDEN}`],
    },
  ])
  expect(await pausedAt()).toBeNull()
  expect((await sms.send('POST', `agent/approvals/${approvals[0].id}/approve`, {})).status).toBe(
    200,
  )
  await eventually(pausedAt, (at) => at !== null)
  expect((await said.answers(2))[1]).toContain('The tool gave 1 result.')
})

test('who opted out gets no answer, and its failure says why', async () => {
  const sms = await smsStory(world)
  const OUT = '+4915100000099'
  await linked(world.app, sms, OUT)
  world.twilio.optedOut.add(OUT)
  await sms.says(OUT, 'hello?')
  const [reply] = await repliesWith(sms, 'failed')
  expect(JSON.stringify(reply)).toContain('opted out')
  expect(await sms.get(sms.id)).toMatchObject({ status: 'active' })
})
