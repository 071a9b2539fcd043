/** A page asked for by name, without the agent: the same list, and the same question before anything is sent. */
import { expect, test } from 'bun:test'
import type { TestApp } from '#test/support/app'
import { openReceiver } from '#test/support/http/receiver'
import { tokenOf } from '#test/support/session'
import { use, useApp } from '#test/support/use'

const listed = use(openReceiver)
const other = use(openReceiver)
const hostOf = ({ port }: { port: number }) => `127.0.0.1:${port}`
const app: TestApp = useApp(() => ({
  env: { EGRESS_ALLOW: `${hostOf(listed)},${hostOf(other)}`, FETCH_ALLOW: hostOf(listed) },
}))

const fetchUrl = (url: string, key: string) => app.send('POST', '/api/v1/actions/fetch_url', { key, body: { url } })

test('a listed page is read; another is asked first, even of a person, and nothing is sent', async () => {
  for (const receiver of [listed, other]) receiver.answer = { status: 200, headers: { 'content-type': 'text/plain' }, body: 'hello' }
  const { api_key } = await app.newKey(['api:read', 'api:write', 'workspace:use'])
  for (const key of [api_key, await tokenOf(app, app.tenantId, 'owner')]) {
    const read = await fetchUrl(listed.url, key)
    expect([read.status, read.body.result]).toMatchObject([200, { status: 200, text: 'hello', finalUrl: listed.url }])
    const asked = await fetchUrl(other.url, key)
    expect([asked.status, asked.body.error?.code]).toEqual([409, 'approval_required'])
  }
  expect(other.requests).toEqual([])
  expect((await fetchUrl('https://localhost/', api_key)).status).not.toBe(200)
})
