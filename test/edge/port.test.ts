import { expect, test } from 'bun:test'
import { testApp } from '#test/support/app'

test('a port that another server uses is refused, not shared', async () => {
  await using app = await testApp()
  const { port } = new URL(app.url)
  const second = testApp({ env: { PORT: port } }).then(
    (other) => other[Symbol.asyncDispose](),
    (cause: unknown) => cause,
  )
  expect(await second).toMatchObject({ code: 'EADDRINUSE' })
})

test('a server that is closed leaves no listener behind, which would keep all that it served', async () => {
  const listeners = () => process.eventNames().map((name) => [name, process.listenerCount(name)])
  const before = listeners()
  const app = await testApp()
  await app[Symbol.asyncDispose]()
  expect(listeners()).toEqual(before)
})
