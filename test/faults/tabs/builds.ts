/** Another build of the same program: a copy of its sources in which a constant differs. */
import { cp, mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'

const root = join(import.meta.dir, '..', '..', '..')
const COPIED = ['src', 'actors', 'assets', 'sql', 'package.json', 'tsconfig.json', 'openapi.json']

/** It goes into the page's scripts and into the worker's, so that both get other names. */
const CHANGED = { file: 'src/console/live/stream.ts', from: '= 500\n', to: '= 501\n' }

/** Makes it in the folder; resolves with the path of its program. */
export const makeOtherBuild = async (folder: string): Promise<string> => {
  const copy = join(folder, 'other-build')
  await mkdir(copy)
  for (const name of COPIED) await cp(join(root, name), join(copy, name), { recursive: true })
  await symlink(join(root, 'node_modules'), join(copy, 'node_modules'))
  const changed = Bun.file(join(copy, CHANGED.file))
  const before = await changed.text()
  if (before.split(CHANGED.from).length !== 2)
    throw new Error(`${CHANGED.file} has no single ${JSON.stringify(CHANGED.from)}`)
  await changed.write(before.replace(CHANGED.from, CHANGED.to))
  return join(copy, 'src', 'main.ts')
}
