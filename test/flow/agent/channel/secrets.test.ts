/**
 * Credentials of channels stand nowhere in the clear, though the provider repeats them in all that
 * it says.
 */
import { expect, test } from 'bun:test'
import { newId } from '#kernel/ids'
import { createLog } from '#kernel/log'
import { scopes } from '#kernel/scopes'
import { eventually } from '#test/support/app'
import { channelAdmin } from '#test/support/channels/channels'
import { checkedChannels } from '#test/support/channels/checked'
import { secretsIn, secretsInTables } from '#test/support/texts/secrets'
import { useApp } from '#test/support/use'

const secrets = {
  'the first secret': 'canary-of-a-channel-0123456789',
  'the second secret': 'canary "with" signs & more/9876543210',
  'the third secret': 'canary-third-abcdef0123456789',
}
const [FIRST, SECOND, THIRD] = Object.values(secrets) as [string, string, string]

const lines: string[] = []
const channels = checkedChannels(['dev'], ['other', 'third'])
const log = createLog('trace', { write: (line) => void lines.push(line) })
const app = useApp(() => ({ overrides: { channels: channels.replace }, log }))

test('no value of a credential stands in a row, an answer, the audit, an event, an export or the log', async () => {
  const { tenantId } = await app.newWorkspace()
  const { key, send, get } = await channelAdmin(app, tenantId)
  const seen: string[] = []
  const call = async (method: string, path: string, body?: unknown) => {
    const answer = await send(method, path, body)
    seen.push(JSON.stringify(answer.body))
    return answer
  }
  const said = () => Object.values(secrets).join(' | ')
  channels.answer = () => ({ kind: 'proven', learned: { botName: said() } })
  const given = {
    channel: 'dev',
    routingKey: newId(),
    credentials: { secret: FIRST, other: SECOND },
  }
  const { body } = await call('POST', 'channels', given)
  const { id } = body.connection
  await eventually(
    () => get(id),
    ({ status }) => status === 'active',
  )
  // The one that it does not have is no secret of its own.
  expect((await get(id)).config).toEqual({ botName: `[a credential] | [a credential] | ${THIRD}` })
  channels.answer = () => ({ kind: 'proven' })
  await call('PATCH', `channels/${id}`, { config: { botName: null } })
  // The provider has been asked about that: what it says next is of the next change.
  await eventually(
    () => app.owner`select 1 from work where ref_id = ${id}`,
    (rows) => rows.length === 0,
  )
  channels.answer = () => ({
    kind: 'refused',
    error: `no: ${said()}; ${encodeURIComponent(SECOND)}; ${JSON.stringify({ said: said() })}`,
  })
  await call('PATCH', `channels/${id}`, { credentials: { third: THIRD } })
  const failing = await eventually(
    () => get(id),
    ({ status, lastError }) => status === 'failing' && lastError !== null,
  )
  expect(String(failing.lastError)).toStartWith(
    'no: [a credential] | [a credential] | [a credential]; [a credential]',
  )
  // An answer to the same key again is what was stored.
  const { api_key } = await app.newKey([...scopes], tenantId)
  for (let count = 0; count < 2; count++) {
    const headers = { 'idempotency-key': 'one' }
    const again = await app.send('PATCH', `/api/v1/channels/${id}`, {
      key: api_key,
      body: { credentials: { secret: FIRST } },
      headers,
    })
    expect(again.status).toBe(200)
    seen.push(again.text)
  }
  for (const wrong of [
    { credentials: { secret: [FIRST] } },
    { config: { secret: FIRST } },
    { credentials: { 'a b': THIRD } },
    { [SECOND]: 1 },
  ]) {
    const refused = await send('PATCH', `channels/${id}`, wrong)
    expect(refused.status).toBe(400)
    if (!(SECOND in wrong)) seen.push(JSON.stringify(refused.body))
  }
  await call('POST', `channels/${id}/check`)
  for (const path of ['channels', `channels/${id}`, 'app/audit']) await call('GET', path)
  const exported = await app.send('GET', '/api/v1/app/workspace/export', { key })
  expect([exported.status, exported.text.includes('channel_connection')]).toEqual([200, true])
  await eventually(
    () => app.owner`select 1 from work where ref_id = ${id} and run_at < clock_timestamp()`,
    (rows) => rows.length === 0,
  )
  expect(await secretsInTables(app.owner, secrets)).toEqual([])
  const audited = seen.find((text) => text.includes('agent.channels.update'))
  expect(audited).toContain('"credentials":["other","secret"]')
  await call('DELETE', `channels/${id}`)
  for (const text of [...seen, exported.text]) expect(secretsIn(text, secrets)).toEqual([])
  expect(await secretsInTables(app.owner, secrets)).toEqual([])
  expect([lines.length > 0, secretsIn(lines.join(''), secrets)]).toEqual([true, []])
})

test('credentials are of use in their own row alone', async () => {
  const { tenantId } = await app.newWorkspace()
  const { connect, send, get } = await channelAdmin(app, tenantId)
  channels.answer = () => ({ kind: 'proven' })
  const [one, other] = [
    await connect({ credentials: { secret: FIRST } }),
    await connect({ credentials: { secret: THIRD } }),
  ]
  for (const id of [one, other])
    await eventually(
      () => get(id),
      ({ status }) => status === 'active',
    )
  await app.owner`update channel_connection set credentials = (select credentials
    from channel_connection where id = ${one}) where id = ${other}`
  const asked = channels.asked.length
  await send('POST', `channels/${other}/check`)
  expect(
    await eventually(
      () => get(other),
      ({ lastError }) => lastError !== null,
    ),
  ).toMatchObject({ lastError: 'the channel could not be checked' })
  expect(channels.asked.slice(asked).filter(({ id }) => id === other)).toEqual([])
})
