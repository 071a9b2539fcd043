import { expect, test } from 'bun:test'
import { testApp } from '#test/support/app'
import { freePort } from '#test/support/processes/server'

test('a port that another server uses is refused, not shared', async () => {
  await using app = await testApp()
  const { port } = new URL(app.url)
  const second = testApp({ env: { PORT: port } }).then(
    (other) => other[Symbol.asyncDispose](),
    (cause: unknown) => cause,
  )
  expect(await second).toMatchObject({ code: 'EADDRINUSE' })
})

const answers = (port: number): Promise<boolean> =>
  fetch(`http://127.0.0.1:${port}/metrics`).then(
    () => true,
    () => false,
  )

test('of a server whose port is taken, the port of metrics is not open either', async () => {
  await using app = await testApp()
  const { port } = new URL(app.url)
  const own = await freePort()
  const env = { PORT: port, METRICS_PORT: String(own) }
  expect(await testApp({ env }).catch((cause) => cause)).toMatchObject({ code: 'EADDRINUSE' })
  expect(await answers(own)).toBe(false)
})

test('of a server whose port of metrics is taken, none is open', async () => {
  await using app = await testApp()
  const port = await freePort()
  const env = { PORT: String(port), METRICS_PORT: new URL(app.url).port }
  const refused = await testApp({ env }).catch((cause) => cause)
  expect(refused.message).toContain('set METRICS_PORT to another port')
  expect(await answers(port)).toBe(false)
})

test('a server that is closed leaves no listener behind, which would keep all that it served', async () => {
  const listeners = () => process.eventNames().map((name) => [name, process.listenerCount(name)])
  const before = listeners()
  const app = await testApp()
  await app[Symbol.asyncDispose]()
  expect(listeners()).toEqual(before)
})
