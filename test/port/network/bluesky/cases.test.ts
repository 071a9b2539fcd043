/** The suites of networks, against a played PDS with an AppView. */
import { marksCases } from '#test/cases/marks'
import { type NetworkCase, networkCases } from '#test/cases/network'
import { blueskyCase } from '#test/support/network/bluesky-case'
import { openPds } from '#test/support/network/pds'

let count = 0

const opening = async (): Promise<NetworkCase> => {
  await using stack = new AsyncDisposableStack()
  const pds = stack.use(await openPds({ appView: true }))
  const account = async () => pds.account(`case-${++count}.test`)
  const opened = await blueskyCase({ url: pds.url, plcUrl: pds.plcUrl, account })
  const owned = stack.move()
  return { ...opened, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

networkCases('bluesky', opening)
marksCases('bluesky', opening)
