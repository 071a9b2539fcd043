/**
 * Builds the web console for browsers. As a program, prints its files as a JSON object: name →
 * base64. src/server/console.ts runs it as a server starts from source.
 */
import { basename, join } from 'node:path'
import type { BunPlugin } from 'bun'

const root = join(import.meta.dir, '..', 'console')

/** The scripts of the page and of the shared worker, and the style sheet. */
const ENTRIES = ['main.tsx', 'worker.ts', 'style.css']

/** Where the files will lie: `CONSOLE_PATH` of the edge. */
const PUBLIC_PATH = '/console/'

/** By name. The same sources give the same names and bytes, wherever they lie. */
export const buildConsole = async (plugins: BunPlugin[] = []): Promise<Map<string, Uint8Array>> => {
  const { outputs } = await Bun.build({
    entrypoints: ENTRIES.map((entry) => join(root, entry)),
    root,
    target: 'browser',
    format: 'esm',
    splitting: true,
    minify: true,
    publicPath: PUBLIC_PATH,
    naming: {
      entry: '[name]-[hash].[ext]',
      chunk: 'part-[hash].[ext]',
      asset: '[name]-[hash].[ext]',
    },
    plugins,
    define: { 'process.env.NODE_ENV': '"production"' },
  })
  const files = outputs.map(
    async (output) => [basename(output.path), new Uint8Array(await output.arrayBuffer())] as const,
  )
  return new Map(await Promise.all(files))
}

if (import.meta.main) {
  const files = [...(await buildConsole())].map(([name, bytes]) => [
    name,
    Buffer.from(bytes).toString('base64'),
  ])
  await Bun.write(Bun.stdout, JSON.stringify(Object.fromEntries(files)))
}
