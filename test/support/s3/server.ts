/**
 * An S3 storage: s3rver, behind a gate that checks what s3rver trusts (signatures, and the hashes
 * of bodies), adds what it lacks (listing and aborting uploads), and fails when a test says so.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import S3rver from 's3rver'
import { S3Disk } from './disk.ts'
import { refusalOf, type Signed } from './signature.ts'

export interface Asked {
  method: string
  /** The base URL, without the bucket. */
  key: string
  query: URLSearchParams
}

/**
 * `away`: the connection ends without an answer. `hang`: no answer comes. `lost`: done, but not
 * answered. An answer can be `cut` after this many bytes of its body, go silent there (`stall`), or
 * have a different byte there (`change`).
 */
export type S3Fault =
  | 'away'
  | 'hang'
  | 'lost'
  | { status: number; code: string }
  | { cut: number }
  | { stall: number }
  | { change: number }

const BUCKET = 'tendril-test'
const REGION = 'eu-test-1'
/** s3rver knows only this pair. */
const PAIR = { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' }

export class TestS3 implements AsyncDisposable {
  /** The requests that arrived, such as `PUT tenant/id` and `POST tenant/id?uploads`. */
  readonly asked: string[] = []
  /** Error codes of requests that were refused by their own fault. */
  readonly refused: string[] = []
  /** What happens to a request. */
  fault: (request: Asked) => S3Fault | undefined | Promise<S3Fault | undefined> = () => undefined

  constructor(
    readonly disk: S3Disk,
    readonly settings: {
      endpoint: string
      bucket: string
      region: string
      accessKeyId: string
      secretAccessKey: string
    },
    private readonly close: () => Promise<void>,
  ) {}

  get env(): Record<string, string> {
    return s3Env(this.settings)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }
}

/** The variables of a server that keeps its files there. */
export const s3Env = ({
  endpoint,
  bucket,
  region,
  accessKeyId,
  secretAccessKey,
}: TestS3['settings']): Record<string, string> => ({
  S3_ENDPOINT: endpoint,
  S3_BUCKET: bucket,
  S3_REGION: region,
  S3_ACCESS_KEY_ID: accessKeyId,
  S3_SECRET_ACCESS_KEY: secretAccessKey,
})

export const openS3 = async (): Promise<TestS3> => {
  const directory = await mkdtemp(join(tmpdir(), 'tendril-s3-'))
  const behind = new S3rver({
    address: '127.0.0.1',
    port: 0,
    silent: true,
    directory,
    configureBuckets: [{ name: BUCKET }],
  })
  const { port: portBehind } = await behind.run()
  const sockets = new Set<Socket>()
  const server = createServer(
    (incoming, response) =>
      void serve(it, portBehind, incoming, response).catch(() => response.destroy()),
  )
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => {})
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const close = async () => {
    for (const socket of sockets) socket.destroy()
    server.close()
    await behind.close()
    await rm(directory, { recursive: true, force: true })
  }
  const it: TestS3 = new TestS3(
    new S3Disk(join(directory, BUCKET)),
    { endpoint, bucket: BUCKET, region: REGION, ...PAIR },
    close,
  )
  return it
}

const bodyOf = async (incoming: IncomingMessage): Promise<Buffer> =>
  Buffer.concat(await Array.fromAsync(incoming))

const refuse = (
  response: ServerResponse,
  { status, code }: { status: number; code: string },
): void => {
  response.writeHead(status, { 'content-type': 'application/xml' })
  response.end(
    `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code><Message>refused by the test</Message></Error>`,
  )
}

const serve = async (
  it: TestS3,
  port: number,
  incoming: IncomingMessage,
  response: ServerResponse,
): Promise<void> => {
  const signed: Signed = {
    method: incoming.method!,
    url: incoming.url!,
    headers: incoming.headers,
    body: await bodyOf(incoming),
  }
  const url = new URL(signed.url, 'http://s3')
  const [, bucket, ...path] = decodeURIComponent(url.pathname).split('/')
  const asked = { method: signed.method, key: path.join('/'), query: url.searchParams }
  it.asked.push(wordsOf(asked))
  const refusal =
    refusalOf(signed, it.settings) ??
    (bucket === BUCKET ? undefined : { status: 404, code: 'NoSuchBucket' })
  if (refusal) {
    it.refused.push(refusal.code)
    return refuse(response, refusal)
  }
  const fault = await it.fault(asked)
  if (fault === 'hang') return
  if (fault === 'away') return void incoming.socket.destroy()
  if (typeof fault === 'object' && 'status' in fault) return refuse(response, fault)
  const answer = (await ours(it, asked)) ?? (await behind(port, signed))
  if (fault === 'lost') return void incoming.socket.destroy()
  await give(response, answer, fault)
}

const wordsOf = ({ method, key, query }: Asked): string => {
  const names = ['uploads', 'uploadId', 'partNumber'].filter((name) => query.has(name))
  return `${method} ${key}${names.length > 0 ? `?${names.join('&')}` : ''}`
}

interface Answer {
  status: number
  headers: Record<string, string | string[] | undefined>
  body: Buffer
}

const ours = async (
  { disk }: TestS3,
  { method, key, query }: Asked,
): Promise<Answer | undefined> => {
  if (method === 'GET' && query.has('uploads')) {
    const prefix = query.get('prefix') ?? ''
    const found = (await disk.uploads()).filter((upload) => upload.key.startsWith(prefix))
    const uploads = found.map(
      (upload) => `<Upload><Key>${upload.key}</Key><UploadId>${upload.id}</UploadId></Upload>`,
    )
    const body = `<ListMultipartUploadsResult><IsTruncated>false</IsTruncated>${uploads.join('')}</ListMultipartUploadsResult>`
    return { status: 200, headers: { 'content-type': 'application/xml' }, body: Buffer.from(body) }
  }
  const id = query.get('uploadId')
  if (id === null) return undefined
  const isKnown = (await disk.uploads()).some((upload) => upload.id === id && upload.key === key)
  const missing = Buffer.from('<Error><Code>NoSuchUpload</Code></Error>')
  if (!isKnown)
    return { status: 404, headers: { 'content-type': 'application/xml' }, body: missing }
  if (method !== 'DELETE') return undefined
  await disk.abort(id)
  return { status: 204, headers: {}, body: Buffer.alloc(0) }
}

const behind = (port: number, { method, url, headers, body }: Signed): Promise<Answer> => {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>()
  const forwarded = request(
    { host: '127.0.0.1', port, method, path: url, headers },
    async (answer) => {
      resolve({ status: answer.statusCode!, headers: answer.headers, body: await bodyOf(answer) })
    },
  )
  forwarded.on('error', reject)
  forwarded.end(body)
  return promise
}

type Spoiled = Exclude<S3Fault, string | { status: number }> | undefined

/** If the connection is kept, an answer needs its length even if it has no body. */
const give = async (
  response: ServerResponse,
  { status, headers, body }: Answer,
  fault: Spoiled,
): Promise<void> => {
  const { 'transfer-encoding': _, connection: __, ...kept } = headers
  const length = kept['content-length'] ?? String(body.length)
  response.writeHead(status, status === 204 ? kept : { ...kept, 'content-length': length })
  if (fault === undefined) return void response.end(body)
  if ('change' in fault) {
    const spoiled = Buffer.from(body)
    spoiled[fault.change]! ^= 1
    return void response.end(spoiled)
  }
  await new Promise<void>((done) =>
    response.write(body.subarray(0, 'cut' in fault ? fault.cut : fault.stall), () => done()),
  )
  if ('cut' in fault) response.socket?.destroy()
}
