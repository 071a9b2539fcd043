/** Servers on which every operation of the contract can succeed. */
import { newId } from '#kernel/ids'
import { type TestApp, testApp } from '../app.ts'
import { blueskyEnv } from '../network/bluesky-app.ts'
import { type FakePds, openPds } from '../network/pds.ts'
import { signedIn } from '../session.ts'
import { use } from '../use.ts'

/** By the address of the server. */
const played = new Map<string, FakePds>()

/** Opens something with a server that takes a played PDS for Bluesky. */
export const withBluesky = async <T extends AsyncDisposable>(
  open: (env: Record<string, string>) => Promise<T>,
  appOf: (opened: T) => TestApp,
): Promise<T> => {
  await using stack = new AsyncDisposableStack()
  const pds = stack.use(await openPds())
  const opened = await open(blueskyEnv(pds))
  const close = opened[Symbol.asyncDispose].bind(opened)
  stack.defer(close)
  played.set(appOf(opened).url, pds)
  const owned = stack.move()
  opened[Symbol.asyncDispose] = () => owned.disposeAsync()
  return opened
}

export const useContractApp = (): TestApp =>
  use(() =>
    withBluesky(
      (env) => testApp({ env }),
      (app) => app,
    ),
  )

/** The input that connects an account of Bluesky, each time another one. */
export const blueskyInput = ({ app }: { app: TestApp }) => {
  const pds = played.get(app.url)
  if (!pds) return {}
  const { handle, appPassword } = pds.account(`${newId()}.test`)
  return { handle, app_password: appPassword, service: pds.url }
}

/** A sign-in by OAuth that waits for its person. */
export const beginAuthorization = async ({ app, tenantId }: { app: TestApp; tenantId: string }) => {
  const { key } = await signedIn(app, tenantId)
  const path = '/api/v1/app/connections/bluesky/authorize'
  const { body } = await app.send('POST', path, { key, body: {} })
  return { id: body.authorization.id }
}
