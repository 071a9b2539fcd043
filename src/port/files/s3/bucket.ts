/** Requests to one bucket. Each has a deadline, and is tried again if that can help. */
import type { S3Client } from '@aws-sdk/client-s3'
import { S3Fault, s3FaultOf } from './faults.ts'

export interface BucketOptions {
  endpoint: string
  bucket: string
  region: string
  accessKeyId: string
  secretAccessKey: string
}

export interface BucketTimes {
  /** For one try of a request, not counting the body of its answer. */
  requestMs: number
  /** How long the body of an answer may pause. */
  silenceMs: number
  /** How long to wait between tries. It doubles each time. */
  restMs: number
}

const usualTimes: BucketTimes = { requestMs: 60_000, silenceMs: 15_000, restMs: 250 }
const CONNECT_MS = 5_000
export const TRIES = 3
/** How many connections this process opens to the storage. */
const SOCKETS = 64

export interface UploadPart {
  PartNumber: number
  ETag: string
}

type Sdk = typeof import('@aws-sdk/client-s3')

/** Loads the client here, because a server without S3 never needs it. */
export const openBucket = async (
  settings: BucketOptions,
  times: Partial<BucketTimes> = {},
): Promise<Bucket> => {
  const sdk = await import('@aws-sdk/client-s3')
  const { endpoint, region, accessKeyId, secretAccessKey } = settings
  const client = new sdk.S3Client({
    endpoint,
    region,
    credentials: { accessKeyId, secretAccessKey },
    forcePathStyle: true,
    // Bodies are signed with their SHA-256, which every server checks. The client's own checksums
    // come in a framing that many servers refuse, and its check of answers hides broken
    // connections.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    // Otherwise, a body of more than 2 MiB waits for a permission that many servers never send.
    expectContinueHeader: false,
    followRegionRedirects: false,
    maxAttempts: 1,
    requestHandler: {
      connectionTimeout: CONNECT_MS,
      httpsAgent: { maxSockets: SOCKETS },
      httpAgent: { maxSockets: SOCKETS },
    },
  })
  return new Bucket(sdk, client, settings, { ...usualTimes, ...times })
}

export class Bucket implements Disposable {
  constructor(
    private readonly sdk: Sdk,
    private readonly client: S3Client,
    private readonly settings: BucketOptions,
    readonly times: BucketTimes,
  ) {}

  async put(key: string, bytes: Uint8Array, signal: AbortSignal): Promise<void> {
    const command = new this.sdk.PutObjectCommand({
      ...this.#at(key),
      Body: bytes,
      ContentLength: bytes.length,
    })
    await this.#tried(signal, (abortSignal) => this.client.send(command, { abortSignal }))
  }

  /** The object's size in bytes; undefined if there is no such object. */
  async sizeOf(key: string, signal: AbortSignal): Promise<number | undefined> {
    const command = new this.sdk.HeadObjectCommand(this.#at(key))
    const answer = await this.#tried(signal, (abortSignal) =>
      this.client.send(command, { abortSignal }),
    ).catch(unlessMissing)
    return answer?.ContentLength
  }

  async begin(key: string, signal: AbortSignal): Promise<string> {
    const command = new this.sdk.CreateMultipartUploadCommand(this.#at(key))
    const { UploadId } = await this.#tried(signal, (abortSignal) =>
      this.client.send(command, { abortSignal }),
    )
    return UploadId ?? unfit('without an upload id')
  }

  async part(
    of: { key: string; upload: string; number: number },
    bytes: Uint8Array,
    signal: AbortSignal,
  ): Promise<UploadPart> {
    const { key, upload: UploadId, number: PartNumber } = of
    const command = new this.sdk.UploadPartCommand({
      ...this.#at(key),
      UploadId,
      PartNumber,
      Body: bytes,
      ContentLength: bytes.length,
    })
    const { ETag } = await this.#tried(signal, (abortSignal) =>
      this.client.send(command, { abortSignal }),
    )
    return { PartNumber, ETag: ETag ?? unfit('without an ETag') }
  }

  /**
   * Only the object itself shows whether this succeeded: the answer may be lost, and a second try
   * then finds no upload.
   */
  async complete(
    { key, upload }: { key: string; upload: string },
    Parts: UploadPart[],
    signal: AbortSignal,
  ): Promise<void> {
    const command = new this.sdk.CompleteMultipartUploadCommand({
      ...this.#at(key),
      UploadId: upload,
      MultipartUpload: { Parts },
    })
    await this.#tried(signal, (abortSignal) => this.client.send(command, { abortSignal })).catch(
      unlessMissing,
    )
  }

  /** Succeeds if there is no such upload. */
  async abort(
    { key, upload }: { key: string; upload: string },
    signal: AbortSignal,
  ): Promise<void> {
    const command = new this.sdk.AbortMultipartUploadCommand({ ...this.#at(key), UploadId: upload })
    await this.#tried(signal, (abortSignal) => this.client.send(command, { abortSignal })).catch(
      unlessMissing,
    )
  }

  /** The unfinished uploads of a key. */
  async uploadsOf(key: string, signal: AbortSignal): Promise<string[]> {
    const command = new this.sdk.ListMultipartUploadsCommand({
      Bucket: this.settings.bucket,
      Prefix: key,
      MaxUploads: 100,
    })
    const { Uploads = [] } = await this.#tried(signal, (abortSignal) =>
      this.client.send(command, { abortSignal }),
    )
    return Uploads.flatMap(({ Key, UploadId }) => (Key === key && UploadId ? [UploadId] : []))
  }

  /** Succeeds if there is no such object. */
  async delete(key: string, signal: AbortSignal): Promise<void> {
    const command = new this.sdk.DeleteObjectCommand(this.#at(key))
    await this.#tried(signal, (abortSignal) => this.client.send(command, { abortSignal })).catch(
      unlessMissing,
    )
  }

  /**
   * The bytes of an object of known size, from the first to the last requested, as they arrive.
   * Tries only once, because the reader knows where to continue.
   */
  async *get(
    key: string,
    { from, to, size }: { from: number; to: number; size: number },
    signal: AbortSignal,
  ): AsyncGenerator<Uint8Array> {
    const over = new AbortController()
    const abortSignal = AbortSignal.any([signal, over.signal])
    try {
      const command = new this.sdk.GetObjectCommand({
        ...this.#at(key),
        Range: `bytes=${from}-${to}`,
      })
      const { Body, ContentRange } = await this.#once(
        this.client.send(command, { abortSignal }),
        this.times.requestMs,
        over,
      )
      if (ContentRange !== `bytes ${from}-${to}/${size}`)
        unfit(`with the range ${ContentRange} of an object of ${size} bytes`)
      const pieces = (Body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]()
      for (;;) {
        const { done, value } = await this.#once(pieces.next(), this.times.silenceMs, over)
        if (done) return
        yield value
      }
    } catch (cause) {
      throw signal.aborted ? signal.reason : s3FaultOf(cause, this.settings)
    } finally {
      over.abort()
    }
  }

  [Symbol.dispose](): void {
    this.client.destroy()
  }

  #at(key: string) {
    return { Bucket: this.settings.bucket, Key: key }
  }

  /** Waits at most this many milliseconds for an answer. */
  async #once<T>(answer: Promise<T>, ms: number, over: AbortController): Promise<T> {
    const { promise: late, reject } = Promise.withResolvers<never>()
    const timer = setTimeout(() => {
      reject(
        new S3Fault('away', `${this.settings.endpoint} has not answered for ${ms / 1_000} seconds`),
      )
      over.abort()
    }, ms)
    answer.catch(() => {})
    try {
      return await Promise.race([answer, late])
    } finally {
      clearTimeout(timer)
    }
  }

  async #tried<T>(signal: AbortSignal, send: (signal: AbortSignal) => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries++) {
      signal.throwIfAborted()
      const over = new AbortController()
      try {
        return await this.#once(
          send(AbortSignal.any([signal, over.signal])),
          this.times.requestMs,
          over,
        )
      } catch (cause) {
        signal.throwIfAborted()
        const fault = s3FaultOf(cause, this.settings)
        if (fault.kind !== 'away' || tries === TRIES) throw fault
        await Bun.sleep(this.times.restMs * 2 ** (tries - 1))
      }
    }
  }
}

const unlessMissing = (cause: unknown): undefined => {
  if (!(cause instanceof S3Fault && cause.kind === 'missing')) throw cause
}

const unfit = (what: string): never => {
  throw new S3Fault('away', `the storage answered ${what}`)
}
