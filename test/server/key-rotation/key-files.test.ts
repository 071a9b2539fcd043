/** The secret keys in the files of a home, wherever a command about them is stopped. */
import { expect, test } from 'bun:test'
import { chownSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readConfig } from '#config/config'
import { makeNextKey, secretKeys, settleKeyFiles } from '#server/secret-key'
import { temporaryFolder } from '#test/support/folder'
import { newSecretKey } from '#test/support/secret/deployment'

const homeAt = (path: string) => {
  const files = { key: join(path, 'secret.key'), next: join(path, 'secret-next.key') }
  const config = readConfig({ TENDRIL_HOME: path })
  return {
    ...files,
    config,
    known: async () => (await secretKeys(config)).map(({ fingerprint }) => fingerprint),
  }
}
const ended = (newest: ReturnType<typeof newSecretKey>, ...dropped: string[]) => ({
  newest,
  isDropped: (fingerprint: string) => dropped.includes(fingerprint),
})
const textOf = ({ bytes }: ReturnType<typeof newSecretKey>): string =>
  `${bytes.toString('base64')}\n`

test('the next key is made beside the present one, readable by its owner alone, and once', async () => {
  await using folder = await temporaryFolder()
  const { config, key, next, known } = homeAt(folder.path)
  expect(await known()).toHaveLength(1)
  await makeNextKey(config)
  expect([key, next].map((file) => statSync(file).mode & 0o777)).toEqual([0o600, 0o600])
  expect(await known()).toHaveLength(2)
  await expect(makeNextKey(config)).rejects.toThrow('is there already')
  writeFileSync(next, 'short')
  await expect(known()).rejects.toThrow('secret-next.key must contain 32 bytes in base64')
})

test('is not made where keys come from the environment, which names the next one', async () => {
  const [one, other] = [newSecretKey(), newSecretKey()]
  const config = readConfig({
    DATABASE_URL: 'postgres://127.0.0.1:9/none',
    TENDRIL_SECRET_KEY: textOf(one).trim(),
    TENDRIL_SECRET_KEY_NEXT: textOf(other).trim(),
  })
  await expect(makeNextKey(config)).rejects.toThrow('set TENDRIL_SECRET_KEY_NEXT')
  expect((await secretKeys(config)).map(({ fingerprint }) => fingerprint)).toEqual([
    one.fingerprint,
    other.fingerprint,
  ])
  expect(() => readConfig({ TENDRIL_SECRET_KEY_NEXT: 'short' })).toThrow('TENDRIL_SECRET_KEY_NEXT')
})

test('after a rotation the new key is the only one, whichever files a stopped command left', async () => {
  const [old, fresh] = [newSecretKey(), newSecretKey()]
  const left: [string, string | undefined, boolean][] = [
    [textOf(old), textOf(fresh), true],
    // The key may have been named by the environment.
    [textOf(old), undefined, true],
    [textOf(fresh), textOf(fresh), true],
    [textOf(fresh), undefined, false],
  ]
  for (const [present, beside, changes] of left) {
    await using folder = await temporaryFolder()
    const { config, key, next } = homeAt(folder.path)
    writeFileSync(key, present, { mode: 0o600 })
    if (beside !== undefined) writeFileSync(next, beside, { mode: 0o600 })
    expect(await settleKeyFiles(config, ended(fresh, old.fingerprint))).toBe(changes)
    expect([readFileSync(key, 'utf8'), existsSync(next)]).toEqual([textOf(fresh), false])
    expect(statSync(key).mode & 0o777).toBe(0o600)
  }
})

test('a key for another rotation stays', async () => {
  await using folder = await temporaryFolder()
  const [fresh, another] = [newSecretKey(), newSecretKey()]
  const { config, key, next, known } = homeAt(folder.path)
  writeFileSync(key, textOf(fresh))
  writeFileSync(next, textOf(another))
  expect(await settleKeyFiles(config, ended(fresh))).toBe(false)
  expect(await known()).toEqual([fresh.fingerprint, another.fingerprint])
})

test('a dropped key beside the present one, as after a rotation that went back, is taken away', async () => {
  await using folder = await temporaryFolder()
  const [kept, dropped] = [newSecretKey(), newSecretKey()]
  const { config, key, next } = homeAt(folder.path)
  writeFileSync(key, textOf(kept))
  writeFileSync(next, textOf(dropped))
  expect(await settleKeyFiles(config, ended(kept, dropped.fingerprint))).toBe(true)
  expect([readFileSync(key, 'utf8'), existsSync(next)]).toEqual([textOf(kept), false])
  await makeNextKey(config)
})

test('processes that start at once after a rotation all know the new key', async () => {
  const [old, fresh] = [newSecretKey(), newSecretKey()]
  for (let round = 0; round < 20; round++) {
    await using folder = await temporaryFolder()
    const { config, key, next, known } = homeAt(folder.path)
    writeFileSync(key, textOf(old))
    writeFileSync(next, textOf(fresh))
    const starts = Array.from({ length: 4 }, async () => {
      const found = await known()
      await settleKeyFiles(config, ended(fresh, old.fingerprint))
      return [...found, ...(await known())]
    })
    for (const found of await Promise.all(starts)) expect(found).toContain(fresh.fingerprint)
    expect([readFileSync(key, 'utf8'), existsSync(next)]).toEqual([textOf(fresh), false])
  }
})

test.skipIf(process.getuid?.() !== 0)('what root makes is of the user of the home', async () => {
  await using folder = await temporaryFolder()
  const { config, key, next, known } = homeAt(folder.path)
  chownSync(folder.path, 4_321, 4_322)
  await known()
  await makeNextKey(config)
  const owners = () => [key, next].map((file) => [statSync(file).uid, statSync(file).gid])
  expect(owners()).toEqual([
    [4_321, 4_322],
    [4_321, 4_322],
  ])
  // A server that keeps its key as another user than that of the folder.
  chownSync(key, 4_323, 4_324)
  const fresh = newSecretKey()
  await settleKeyFiles(config, ended(fresh))
  expect([statSync(key).uid, statSync(key).gid]).toEqual([4_323, 4_324])
})
