/**
 * Where files are kept: the settings of S3-compatible storage. Either all of them are set, or none.
 */
import { AppError } from '#kernel/errors'
import { parseAddress, refuseValue } from './values.ts'

export interface S3Settings {
  /** Without a trailing slash. */
  endpoint: string
  bucket: string
  region: string
  accessKeyId: string
  secretAccessKey: string
}

const NAMES = [
  'S3_ENDPOINT',
  'S3_BUCKET',
  'S3_REGION',
  'S3_ACCESS_KEY_ID',
  'S3_SECRET_ACCESS_KEY',
] as const
type Name = (typeof NAMES)[number]

const BUCKET = /^[A-Za-z0-9][A-Za-z0-9._-]{1,61}[A-Za-z0-9]$/
const REGION = /^[A-Za-z0-9-]{1,64}$/
/**
 * A key may have the characters that an HTTP header can hold, except those that separate the parts
 * of the signature.
 */
const KEY = /^[\x21-\x2b\x2d\x2e\x30-\x7e]{1,256}$/
const SECRET = /^[\x21-\x7e]{1,1024}$/

const checkForm = (
  name: Name,
  text: string,
  { form, means }: { form: RegExp; means: string },
): string => (form.test(text) ? text : refuseValue(name, means))

/** Undefined if files are kept in the database. Error messages never repeat a secret. */
export const s3Of = (env: Record<string, string | undefined>): S3Settings | undefined => {
  const missing = NAMES.filter((name) => !env[name])
  if (missing.length === NAMES.length) return undefined
  if (missing.length > 0)
    throw new AppError(
      'invalid_input',
      `${missing.join(', ')} ${missing.length === 1 ? 'is' : 'are'} not set: files are kept in S3 if all of ${NAMES.join(', ')} are set, and in the database if none is`,
    )
  return {
    endpoint: parseAddress('S3_ENDPOINT', env.S3_ENDPOINT!),
    bucket: checkForm('S3_BUCKET', env.S3_BUCKET!, {
      form: BUCKET,
      means: 'the name of a bucket, of 3 to 63 letters, digits, dots and hyphens',
    }),
    region: checkForm('S3_REGION', env.S3_REGION!, {
      form: REGION,
      means: 'the name of a region, such as us-east-1',
    }),
    accessKeyId: checkForm('S3_ACCESS_KEY_ID', env.S3_ACCESS_KEY_ID!, {
      form: KEY,
      means: 'an access key id, without spaces, commas and slashes',
    }),
    secretAccessKey: checkForm('S3_SECRET_ACCESS_KEY', env.S3_SECRET_ACCESS_KEY!, {
      form: SECRET,
      means: 'a secret access key, without spaces',
    }),
  }
}
