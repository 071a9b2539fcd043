/** What a start as root changes in data that somebody else may have had a hand in, and what not. */
import { expect, test } from 'bun:test'
import {
  chmodSync,
  chownSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { createLog } from '#kernel/log'
import { dataOf } from '#postgres/cluster'
import { fitData, hasCluster } from '#postgres/data-owner'
import { temporaryFolder } from '#test/support/folder'
import { use } from '#test/support/use'

const asRoot = process.getuid?.() === 0
const log = createLog('silent')
const account = { uid: 4_242, gid: 4_243 }

const folder = use(temporaryFolder)
let homes = 0

/** A folder that looks like data. */
const makeData = (data: string): string => {
  mkdirSync(join(data, 'base', '1'), { recursive: true, mode: 0o700 })
  for (const name of ['PG_VERSION', 'base/1/1249'])
    writeFileSync(join(data, name), '18', { mode: 0o600 })
  return data
}
const newFolder = (): string => {
  const path = join(folder.path, `${++homes}`)
  mkdirSync(path, { mode: 0o711 })
  return path
}
/** A folder with a file, neither of which belongs to the data. */
const newElsewhere = (): string => {
  const path = newFolder()
  writeFileSync(join(path, 'file'), 'x', { mode: 0o644 })
  return path
}
const give = (data: string): void => {
  for (const name of ['PG_VERSION', 'base/1/1249', 'base/1', 'base', '.'])
    chownSync(join(data, name), account.uid, account.gid)
}
const ownersOf = (path: string): [number, number, number] => {
  const { uid, gid, mode } = lstatSync(path)
  return [uid, gid, mode & 0o777]
}
const expectUntouched = (elsewhere: string): void => {
  expect(ownersOf(elsewhere)).toEqual([0, 0, 0o711])
  expect(ownersOf(join(elsewhere, 'file'))).toEqual([0, 0, 0o644])
}

test.skipIf(!asRoot)('all that root has copied is given away, but nothing behind a link', () => {
  const home = newFolder()
  const data = makeData(dataOf(home))
  const elsewhere = newElsewhere()
  symlinkSync(elsewhere, join(data, 'base', 'folder'))
  symlinkSync(join(elsewhere, 'file'), join(data, 'file'))
  chmodSync(data, 0o777)
  fitData(home, { account, log })
  for (const name of ['.', 'base', 'base/1'])
    expect(ownersOf(join(data, name))).toEqual([4_242, 4_243, 0o700])
  for (const name of ['PG_VERSION', 'base/1/1249'])
    expect(ownersOf(join(data, name))).toEqual([4_242, 4_243, 0o600])
  expectUntouched(elsewhere)
})

test.skipIf(!asRoot)(
  'where others have a folder among what root has copied, nothing is given away behind it',
  () => {
    const home = newFolder()
    const data = makeData(dataOf(home))
    chownSync(join(data, 'base', '1'), 4_244, 4_244)
    expect(() => fitData(home, { account, log })).toThrow(
      `As root, run: chown -R 4242:4243 '${data}'`,
    )
    expect(ownersOf(join(data, 'base', '1'))).toEqual([4_244, 4_244, 0o700])
    expect(ownersOf(join(data, 'base', '1', '1249'))).toEqual([0, 0, 0o600])
    // As by a start that was killed.
    chownSync(join(data, 'base', '1'), account.uid, account.gid)
    chownSync(join(data, 'base', '1', '1249'), account.uid, account.gid)
    fitData(home, { account, log })
    expect(ownersOf(data)).toEqual([4_242, 4_243, 0o700])
  },
)

test.skipIf(!asRoot)(
  'data that belong to their user are not given files of root, which the user may have put there',
  () => {
    const home = newFolder()
    const data = makeData(dataOf(home))
    const elsewhere = newElsewhere()
    give(data)
    symlinkSync(elsewhere, join(data, 'folder'))
    lchownSync(join(data, 'folder'), account.uid, account.gid)
    chmodSync(data, 0o777)
    fitData(home, { account, log })
    expect(ownersOf(data)).toEqual([4_242, 4_243, 0o700])
    expectUntouched(elsewhere)
    chownSync(join(data, 'PG_VERSION'), 0, 0)
    chmodSync(data, 0o777)
    expect(() => fitData(home, { account, log })).toThrow(
      `As root, run: chown -R 4242:4243 '${data}' && chmod -R u+rwX,go-rwx '${data}'`,
    )
    expect(statSync(join(data, 'PG_VERSION')).uid).toBe(0)
    expectUntouched(elsewhere)
  },
)

test.skipIf(!asRoot)(
  'data on another disk are used; where they are not fit, they are named',
  () => {
    const [home, disk] = [newFolder(), newFolder()]
    const data = makeData(join(disk, 'data'))
    give(data)
    mkdirSync(join(home, 'postgres'))
    symlinkSync(data, dataOf(home))
    expect(() => fitData(home, { account, log })).not.toThrow()
    const elsewhere = newElsewhere()
    const other = newFolder()
    mkdirSync(join(other, 'postgres'))
    symlinkSync(elsewhere, dataOf(other))
    expect(() => fitData(other, { account, log })).toThrow(`chown -R 4242:4243 '${elsewhere}'`)
    expectUntouched(elsewhere)
    const unmounted = newFolder()
    mkdirSync(join(unmounted, 'postgres'))
    symlinkSync(join(disk, 'none'), dataOf(unmounted))
    expect(hasCluster(unmounted)).toBe(true)
    expect(() => fitData(unmounted, { account, log })).toThrow('is its disk mounted?')
  },
)

test.skipIf(!asRoot)('a home of somebody else is not one that root has copied', () => {
  const home = newFolder()
  const data = makeData(dataOf(home))
  chownSync(home, account.uid, account.gid)
  expect(() => fitData(home, { account, log })).toThrow(`chown -R 4242:4243 '${data}'`)
  expect(statSync(data).uid).toBe(0)
})

test.skipIf(!asRoot)('a home that is closed to us is not one without a database', () => {
  const home = newFolder()
  makeData(dataOf(home))
  chmodSync(home, 0o700)
  expect(hasCluster(home)).toBe(true)
  process.seteuid!(account.uid)
  try {
    expect(() => hasCluster(home)).toThrow(`${home} is closed to user`)
  } finally {
    process.seteuid!(0)
  }
  expect(hasCluster(join(home, 'none'))).toBe(false)
})
