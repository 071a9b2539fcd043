/** What the browser gets: which sources, and how much of them. */
import { describe, expect, test } from 'bun:test'
import { consoleBundle } from '#edge/console/bundle'
import { filesBuiltApart } from '#server/console'
import { builtConsole } from '#test/support/console/built'

const KIB = 1_024

const gzOf = ({ gzip, plain }: { gzip: Uint8Array | undefined; plain: Uint8Array }): number =>
  (gzip ?? plain).byteLength

describe('the console', () => {
  test('has the same files whether it is built in this process or in one of its own', async () => {
    const { bundle } = await builtConsole()
    const apart = consoleBundle(await filesBuiltApart())
    const hashes = ({ assets }: typeof apart) =>
      Object.fromEntries([...assets].map(([name, { etag }]) => [name, etag]))
    expect(hashes(apart)).toEqual(hashes(bundle))
  })

  test('holds no part of the server, and of packages those that it names alone', async () => {
    const { sources } = await builtConsole()
    const packages = new Set(
      sources.flatMap((path) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? []),
    )
    expect([...packages].sort()).toEqual([
      '@tanstack/query-core',
      '@tanstack/react-query',
      'react',
      'react-dom',
      'scheduler',
    ])
    const ours = sources.flatMap((path) => /\/src\/([a-z]+)\//.exec(path)?.[1] ?? [])
    expect(
      [...new Set(ours)].filter(
        (layer) => !['console', 'kernel', 'contract', 'domain'].includes(layer),
      ),
    ).toEqual([])
  })

  test('begins with at most 110 KiB of script and 10 of style, and loads at most 25 for a page', async () => {
    const { assets, script, style } = (await builtConsole()).bundle
    expect(gzOf(assets.get(script)!)).toBeLessThanOrEqual(110 * KIB)
    expect(gzOf(assets.get(style)!)).toBeLessThanOrEqual(10 * KIB)
    const parts = [...assets].filter(([name]) => name.startsWith('part-'))
    expect(parts.length).toBeGreaterThan(1)
    for (const [name, part] of parts) expect([name, gzOf(part) <= 25 * KIB]).toEqual([name, true])
  })
})
