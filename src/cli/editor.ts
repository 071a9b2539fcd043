/** Text that the user edits in an editor. */
import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * `editor` can have arguments, as in `code --wait`. The file is in a folder that only the user can
 * read. If the editor adds a line end, it is removed again. Throws if the editor fails.
 */
export const editIn = async (editor: string, text: string, name: string): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'tendril-'))
  try {
    const file = join(folder, name)
    await writeFile(file, `${text}\n`, { mode: 0o600 })
    await new Promise<void>((resolve, reject) => {
      const child = spawn(`${editor} "${file}"`, { shell: true, stdio: 'inherit' })
      child.once('error', reject)
      child.once('exit', (code) =>
        code === 0 ? resolve() : reject(new Error(`the editor ended with ${code}`)),
      )
    })
    return (await readFile(file, 'utf8')).replace(/\r?\n$/, '')
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
