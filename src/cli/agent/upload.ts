/** `tendril agent documents upload`: adds text files under their own names. */
import { basename } from 'node:path'
import { Failure } from '../failure.ts'
import type { Host } from '../host.ts'
import { jsonLines, tablePages } from '../print.ts'
import { openAgent } from './context.ts'

type Record = { [field: string]: unknown }

/**
 * Uploads one file after another. A refused file does not stop the others. The exit code is that of
 * the first one refused.
 */
export const upload = async (
  files: readonly string[],
  options: Record,
  host: Host,
): Promise<number> => {
  using context = await openAgent(options, host)
  const shown = options.json === true ? jsonLines(host) : tablePages(host)
  let exit = 0
  for (const file of files) {
    try {
      const metadata = options.trusted === true ? { metadata: { trusted: true } } : {}
      const input = { fileName: basename(file), content: await host.readFile(file), ...metadata }
      const { document } = await context.ask<{ document: Record }>('agent.documents.add', input)
      shown.add([document])
    } catch (cause) {
      const failure = Failure.from(cause)
      host.stderr.write(`tendril: ${file}: ${failure.message}\n`)
      if (exit === 0) exit = failure.exit
      if (host.signal.aborted) break
    }
  }
  return exit
}
