/** A deployment whose secret key is rotated: its database, its keys, and commands about them. */
import postgres from 'postgres'
import { type Config, readConfig } from '#config/config'
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

type Stop = (place: string) => void

export interface RotatingDeployment extends AsyncDisposable {
  options: ConnectionOptions
  /** As a superuser, past every policy. */
  root: postgres.Sql
  /** As a server does, which needs more keys than a command. */
  enter(...known: SecretKey[]): Promise<Entered>
  /** `stop` throws where the command is to be stopped. */
  rotate(known: SecretKey[], how?: { back?: boolean; stop?: Stop }): Promise<object>
  dropOld(known: SecretKey[], how?: { endsSessions?: boolean; stop?: Stop }): Promise<object>
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
  const enterAs = async (serves: boolean, known: SecretKey[]): Promise<Entered> => {
    const keys = await checkCanary(options, known, serves)
    const key = keys.candidate ?? keys.newest
    const entered = await withLogins(options, key, log)
    keys.login = key.fingerprint
    return { options: entered, keys }
  }
  const enter = (...known: SecretKey[]) => enterAs(true, known)
  await enter(first)
  const owned = stack.move()
  const usual = { settledMs: 0, tell: () => {} }
  return {
    options,
    root,
    enter,
    async rotate(known, { back = false, stop = () => {} } = {}) {
      const entered = await enterAs(false, known)
      return await rotateKey(entered, { ...usual, back, failpoints: stop })
    },
    async dropOld(known, { endsSessions = false, stop = () => {} } = {}) {
      const entered = await enterAs(false, known)
      return await dropOldSecret(configOf(), entered, { ...usual, endsSessions, failpoints: stop })
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}
