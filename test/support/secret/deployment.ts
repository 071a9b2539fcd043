/** A deployment whose secret key is rotated: its database, its keys, and commands about them. */
import postgres from 'postgres'
import { type Config, readConfig } from '#config/config'
import type { Failpoints } from '#kernel/failpoint'
import { createLog } from '#kernel/log'
import { type SecretKey, secretKeyOf } from '#kernel/secret'
import type { SecretKeys } from '#kernel/secret-keys'
import { dropOldSecret } from '#server/key-rotation/drop'
import { rotateKey } from '#server/key-rotation/rotate'
import { checkCanary } from '#store/engine/canary'
import type { ConnectionOptions } from '#store/engine/db'
import { withLogins } from '#store/engine/logins'
import { migrate } from '#store/engine/migrate'
import { withVersion } from '#store/engine/reach'
import { managedDb } from '../database/managed.ts'

const log = createLog('silent')

/** As servers and commands enter it. */
interface Entered {
  options: ConnectionOptions
  keys: SecretKeys
}

export interface RotatingDeployment extends AsyncDisposable {
  options: ConnectionOptions
  /** As a superuser, past every policy. */
  root: postgres.Sql
  /** As a server does, which needs more keys than a command. */
  enter(...known: SecretKey[]): Promise<Entered>
  /** `stop` throws where the command is to be stopped. */
  rotate(known: SecretKey[], how?: { back?: boolean; stop?: Failpoints }): Promise<object>
  dropOld(known: SecretKey[], how?: { endsSessions?: boolean; stop?: Failpoints }): Promise<object>
}

export const newSecretKey = (): SecretKey =>
  secretKeyOf(Buffer.from(crypto.getRandomValues(new Uint8Array(32))))

/** So that the commands leave the files of homes alone. */
const configOf = (): Config =>
  readConfig({
    DATABASE_URL: 'postgres://127.0.0.1:9/none',
    TENDRIL_SECRET_KEY: Buffer.alloc(32).toString('base64'),
  })

/** The database of an owner who is no superuser, first entered with this key. */
export const rotatingDeployment = async (first: SecretKey): Promise<RotatingDeployment> => {
  await using stack = new AsyncDisposableStack()
  const database = stack.use(await managedDb())
  const options = await withVersion(database.options)
  await migrate(options, log)
  const root = postgres({ ...database.root, max: 2, onnotice: () => {} })
  stack.defer(() => root.end({ timeout: 1 }))
  const enter = async (...known: SecretKey[]): Promise<Entered> => {
    const keys = await checkCanary(options, known)
    const key = keys.candidate ?? keys.newest
    const entered = await withLogins(options, key, log)
    keys.login = key.fingerprint
    return { options: entered, keys }
  }
  /** A command about the key uses no pool. */
  const begin = async (known: SecretKey[]): Promise<Entered> => ({
    options,
    keys: await checkCanary(options, known, false),
  })
  await enter(first)
  const owned = stack.move()
  const usual = { settledMs: 0, tell: () => {} }
  return {
    options,
    root,
    enter,
    async rotate(known, { back = false, stop = () => {} } = {}) {
      return await rotateKey(await begin(known), { ...usual, back, failpoints: stop })
    },
    async dropOld(known, { endsSessions = false, stop = () => {} } = {}) {
      const begun = await begin(known)
      return await dropOldSecret(configOf(), begun, { ...usual, endsSessions, failpoints: stop })
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}
