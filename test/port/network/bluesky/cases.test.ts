/** The suite of all networks, against a played PDS with an AppView. */
import { networkCases } from '#test/cases/network'
import { blueskyCase } from '#test/support/network/bluesky-case'
import { openPds } from '#test/support/network/pds'

let count = 0

networkCases('bluesky', async () => {
  await using stack = new AsyncDisposableStack()
  const pds = stack.use(await openPds({ appView: true }))
  const account = async () => pds.account(`case-${++count}.test`)
  const opened = await blueskyCase({ url: pds.url, plcUrl: pds.plcUrl, account })
  const owned = stack.move()
  return { ...opened, [Symbol.asyncDispose]: () => owned.disposeAsync() }
})
