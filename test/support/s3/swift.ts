/**
 * OpenStack Swift with its S3 layer, as Debian packages it: `apt install swift-proxy swift-account
 * swift-container swift-object`.
 */
import { mkdir, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { eventually } from '../eventually.ts'
import { temporaryFolder } from '../folder.ts'
import type { TestS3 } from './server.ts'

const REGION = 'eu-test-1'
const PAIR = { accessKeyId: 'test:tester', secretAccessKey: 'testing' }
const START_MS = 100_000

const SERVERS = ['account', 'container', 'object'] as const
const FILTERS = ['catch_errors', 'gatekeeper', 'healthcheck', 'listing_formats', 'slo', 'dlo'].map(
  (name) => `[filter:${name}]\nuse = egg:swift#${name}\n`,
)

export const hasSwift =
  [...SERVERS, 'proxy'].every((name) => Bun.which(`swift-${name}-server`) !== null) &&
  Bun.which('swift-ring-builder') !== null

const freePort = async (): Promise<number> => {
  const server = createServer()
  const { promise, resolve } = Promise.withResolvers<number>()
  server.listen(0, '127.0.0.1', () => {
    const { port } = server.address() as { port: number }
    server.close(() => resolve(port))
  })
  return promise
}

const common = (folder: string, port: number): string => `[DEFAULT]
bind_ip = 127.0.0.1
bind_port = ${port}
swift_dir = ${folder}
user = ${userInfo().username}
workers = 0
log_level = ERROR
`

const storageServer = (
  folder: string,
  name: string,
  port: number,
): string => `${common(folder, port)}devices = ${folder}/nodes
mount_check = false
fallocate_reserve = 0
[pipeline:main]
pipeline = ${name}-server
[app:${name}-server]
use = egg:swift#${name}
recon_cache_path = ${folder}/recon
`

const proxyServer = (
  folder: string,
  port: number,
): string => `${common(folder, port)}[pipeline:main]
pipeline = catch_errors gatekeeper healthcheck cache listing_formats s3api tempauth slo dlo proxy-server
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
[filter:cache]
use = egg:swift#memcache
memcache_servers = 127.0.0.1:1
[filter:s3api]
use = egg:swift#s3api
location = ${REGION}
[filter:tempauth]
use = egg:swift#tempauth
user_test_tester = ${PAIR.secretAccessKey} .admin
${FILTERS.join('')}`

/** One copy on one device. */
const buildRing = (folder: string, name: string, port: number): void => {
  for (const args of [
    ['create', '4', '1', '1'],
    ['add', `r1z1-127.0.0.1:${port}/d1`, '1'],
    ['rebalance'],
  ])
    Bun.spawnSync(['swift-ring-builder', join(folder, `${name}.builder`), ...args])
}

export interface Swift extends AsyncDisposable, Pick<TestS3, 'settings'> {}

export const startSwift = async (bucket: string): Promise<Swift> => {
  await using stack = new AsyncDisposableStack()
  const { path: folder } = stack.use(await temporaryFolder())
  for (const name of ['nodes/d1', 'recon']) await mkdir(join(folder, name), { recursive: true })
  const start = async (name: string, config: string): Promise<void> => {
    const path = join(folder, `${name}.conf`)
    await writeFile(path, config)
    const child = Bun.spawn([`swift-${name}-server`, path], {
      stdio: ['ignore', 'ignore', 'ignore'],
    })
    stack.defer(async () => {
      child.kill()
      await child.exited
    })
  }
  for (const name of SERVERS) {
    const port = await freePort()
    buildRing(folder, name, port)
    await start(name, storageServer(folder, name, port))
  }
  const port = await freePort()
  await start('proxy', proxyServer(folder, port))
  const settings = { endpoint: `http://127.0.0.1:${port}`, bucket, region: REGION, ...PAIR }
  const made = await eventually(
    () => makeBucket(settings).catch((cause) => String(cause)),
    (failure) => failure === undefined,
    START_MS,
  )
  if (made !== undefined) throw new Error(`Swift did not start: ${made}`)
  const owned = stack.move()
  return { settings, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

/** Throws until all of its servers answer. */
const makeBucket = async ({
  endpoint,
  region,
  bucket,
  ...credentials
}: TestS3['settings']): Promise<undefined> => {
  const { S3Client, CreateBucketCommand } = await import('@aws-sdk/client-s3')
  const client = new S3Client({
    endpoint,
    region,
    credentials,
    forcePathStyle: true,
    maxAttempts: 1,
  })
  await client.send(new CreateBucketCommand({ Bucket: bucket })).finally(() => client.destroy())
}
