import { expect, test } from 'bun:test'
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { copyNative, packNative, unpackNative } from '#postgres/archive'
import { temporaryFolder } from '#test/support/folder'

const makeNative = (native: string): void => {
  for (const folder of ['bin', 'lib/pkgconfig', 'share/zone'])
    mkdirSync(join(native, folder), { recursive: true })
  writeFileSync(join(native, 'bin', 'postgres'), '#!/bin/sh\n')
  chmodSync(join(native, 'bin', 'postgres'), 0o700)
  writeFileSync(join(native, 'lib', 'libx.so.1.2'), new Uint8Array([0, 255, 128, 0]))
  writeFileSync(join(native, 'lib', 'libx.a'), 'for linking')
  writeFileSync(join(native, 'lib', 'pkgconfig', 'x.pc'), 'for building')
  writeFileSync(join(native, 'share', 'zone', 'Ünïcode empty'), '')
  const link = { source: 'native/lib/libx.so.1.2', target: 'native/lib/libx.so' }
  writeFileSync(join(native, 'pg-symlinks.json'), JSON.stringify([link]))
}

const describeEntry = (path: string): string => {
  const found = lstatSync(path)
  if (found.isSymbolicLink()) return `-> ${readlinkSync(path)}`
  const mode = (found.mode & 0o777).toString(8)
  return found.isDirectory() ? mode : `${mode} ${readFileSync(path).toString('hex')}`
}

const contents = (folder: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(folder, { recursive: true })
      .map(String)
      .sort()
      .map((path) => [path, describeEntry(join(folder, path))]),
  )

const EXPECTED = {
  bin: '755',
  'bin/postgres': `755 ${Buffer.from('#!/bin/sh\n').toString('hex')}`,
  lib: '755',
  'lib/libx.so': '-> libx.so.1.2',
  'lib/libx.so.1.2': '644 00ff8000',
  share: '755',
  'share/zone': '755',
  'share/zone/Ünïcode empty': '644 ',
}

test('a packed folder unpacks with its bytes, links and modes, readable by every user, and without build files', async () => {
  await using folder = await temporaryFolder()
  const native = join(folder.path, 'native')
  makeNative(native)
  await unpackNative(await packNative(native), join(folder.path, 'out'))
  expect(contents(join(folder.path, 'out'))).toEqual(EXPECTED)
})

test('a copy of the folder is the same, also under a narrow umask', async () => {
  await using folder = await temporaryFolder()
  const native = join(folder.path, 'native')
  makeNative(native)
  const umask = process.umask(0o077)
  try {
    copyNative(native, join(folder.path, 'out'))
  } finally {
    process.umask(umask)
  }
  expect(contents(join(folder.path, 'out'))).toEqual(EXPECTED)
})
