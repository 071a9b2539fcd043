/** What can go wrong with S3-compatible storage, and what an operator can do about it. */

/**
 * `away`: storage did not answer properly, and may do so later. `refused`: it answers, but does not
 * accept these settings. `missing`: there is no such object or upload. `unable`: it does not
 * support the request.
 */
type FaultKind = 'away' | 'refused' | 'missing' | 'unable'

export class S3Fault extends Error {
  override readonly name = 'S3Fault'

  constructor(
    readonly kind: FaultKind,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options)
  }
}

interface Place {
  endpoint: string
  bucket: string
  region: string
}

/** Error codes that are caused by the settings. */
const settings: Record<string, (place: Place) => string> = {
  InvalidAccessKeyId: () => 'the storage does not know S3_ACCESS_KEY_ID',
  SignatureDoesNotMatch: () => 'S3_SECRET_ACCESS_KEY is not the secret of S3_ACCESS_KEY_ID',
  AccessDenied: ({ bucket }) => `S3_ACCESS_KEY_ID has no right to do this in the bucket ${bucket}`,
  NoSuchBucket: ({ bucket, endpoint }) =>
    `there is no bucket ${bucket} at ${endpoint}: make it, or set S3_BUCKET to another one`,
  PermanentRedirect: elsewhere,
  TemporaryRedirect: elsewhere,
  AuthorizationHeaderMalformed: elsewhere,
  RequestTimeTooSkewed: () => "this machine's clock differs from that of the storage by too much",
}

function elsewhere({ bucket, region }: Place): string {
  return `the bucket ${bucket} is not in the region ${region}, or not at this address: set S3_REGION and S3_ENDPOINT to its own`
}

const byStatus: Record<number, string> = {
  301: 'PermanentRedirect',
  307: 'TemporaryRedirect',
  401: 'InvalidAccessKeyId',
  403: 'AccessDenied',
}

const missing = ['NoSuchKey', 'NoSuchUpload', 'NotFound']
const unable = ['NotImplemented', 'MethodNotAllowed']
/** Codes that are worth another try, although they blame the request. */
const passing = [
  'RequestTimeout',
  'SlowDown',
  'TooManyRequests',
  'OperationAborted',
  'BadDigest',
  'XAmzContentSHA256Mismatch',
  'IncompleteBody',
]

interface Answered {
  name?: string
  message?: string
  code?: string
  $metadata?: { httpStatusCode?: number }
}

/** The fault behind the error that a request threw. */
export const s3FaultOf = (cause: unknown, place: Place): S3Fault => {
  if (cause instanceof S3Fault) return cause
  const { name = '', message = '', code, $metadata } = cause as Answered
  const status = $metadata?.httpStatusCode
  if (status === undefined)
    return new S3Fault(
      'away',
      `${place.endpoint} cannot be reached: ${code ?? (name === 'Error' ? message : name)}`,
      { cause },
    )
  const known = settings[name] ? name : missing.includes(name) ? undefined : byStatus[status]
  if (known) return new S3Fault('refused', settings[known]!(place), { cause })
  if (missing.includes(name) || status === 404)
    return new S3Fault('missing', `the storage has no such object: ${name}`, { cause })
  if (unable.includes(name) || status === 405 || status === 501)
    return new S3Fault('unable', `the storage cannot do this: ${name}`, { cause })
  const isPassing = status >= 500 || status === 429 || status < 300 || passing.includes(name)
  return new S3Fault(isPassing ? 'away' : 'refused', `the storage answered ${status} ${name}`, {
    cause,
  })
}
