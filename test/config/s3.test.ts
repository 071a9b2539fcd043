import { describe, expect, test } from 'bun:test'
import { readConfig } from '#config/config'

const whole = {
  S3_ENDPOINT: 'https://s3.example.com/',
  S3_BUCKET: 'files.example',
  S3_REGION: 'eu-central-1',
  S3_ACCESS_KEY_ID: 'AKIDEXAMPLE',
  S3_SECRET_ACCESS_KEY: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY=',
}

const refusal = (env: Record<string, string>): string => {
  try {
    readConfig(env)
    return 'none'
  } catch (cause) {
    return (cause as Error).message
  }
}

describe('the settings of S3', () => {
  test('are none at all, or these', () => {
    expect([readConfig({}).s3, readConfig({ S3_BUCKET: '', S3_ENDPOINT: '' }).s3]).toEqual([
      undefined,
      undefined,
    ])
    expect(readConfig(whole).s3).toEqual({
      endpoint: 'https://s3.example.com',
      bucket: 'files.example',
      region: 'eu-central-1',
      accessKeyId: 'AKIDEXAMPLE',
      secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY=',
    })
  })

  test.each(Object.keys(whole))('are refused without %s, which the refusal names first', (name) => {
    expect(refusal({ ...whole, [name]: '' })).toStartWith(`${name} is not set: `)
  })

  test('are refused if one alone is set, with the names of all others', () => {
    expect(refusal({ S3_BUCKET: 'files' })).toStartWith(
      'S3_ENDPOINT, S3_REGION, S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY are not set: ',
    )
  })

  test.each([
    ['S3_ENDPOINT', 's3.example.com'],
    ['S3_ENDPOINT', 'ftp://s3.example.com'],
    ['S3_ENDPOINT', 'https://user:password@s3.example.com'],
    ['S3_BUCKET', 'a'],
    ['S3_BUCKET', 'files/of'],
    ['S3_BUCKET', '-files'],
    ['S3_REGION', 'eu central'],
    ['S3_ACCESS_KEY_ID', 'AKID EXAMPLE'],
    ['S3_ACCESS_KEY_ID', 'AKID/EXAMPLE'],
    ['S3_SECRET_ACCESS_KEY', 'two words'],
    ['S3_SECRET_ACCESS_KEY', 'line\nbreak'],
  ])('are refused with %s=%p', (name, text) => {
    expect(refusal({ ...whole, [name]: text })).toStartWith(`${name} must be `)
  })

  test('never appear in a refusal if they are secret', () => {
    expect(refusal({ ...whole, S3_SECRET_ACCESS_KEY: 'a hidden secret' })).not.toContain('hidden')
    expect(refusal({ ...whole, S3_ACCESS_KEY_ID: 'a hidden id' })).not.toContain('hidden')
    expect(refusal({ ...whole, S3_ENDPOINT: 'https://user:hidden@s3.example.com' })).not.toContain(
      'hidden',
    )
  })
})
